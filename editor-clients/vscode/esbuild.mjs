// Bundles the extension, and with --tests the tests: one file each, with everything but the host's own modules.
import { build } from "esbuild";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: true,
});

if (process.argv.includes("--tests")) {
  await build({ ...common, entryPoints: ["test/unit/index.ts"], outfile: "dist/test/unit.js" });
  await build({
    ...common,
    entryPoints: ["test/host/index.ts"],
    outfile: "dist/test/host.js",
    external: ["vscode", "mocha"],
  });
}
