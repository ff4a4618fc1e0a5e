/** Folders: which project a call is about, and whether a turn's project is open in this window. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

/** Whether a turn's project, as its client named it, is one of `folders`, lies in one, or holds one. */
export function isOpenHere(projectRoot: string | undefined, folders: readonly string[]): boolean {
  if (projectRoot === undefined) {
    return true;
  }
  const root = realPath(asPath(projectRoot));
  return folders.map(realPath).some((folder) => holds(folder, root) || holds(root, folder));
}

/** The path that an absolute path or a `file:` URI names. */
export function asPath(root: string): string {
  if (!/^file:/i.test(root)) {
    return root;
  }
  try {
    return fileURLToPath(root);
  } catch {
    return root;
  }
}

function holds(folder: string, inner: string): boolean {
  const relative = path.relative(folder, inner);
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}
