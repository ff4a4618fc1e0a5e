/** `@memrecall` in the chat, in editors that have one: which notes matter for what was written. */
import * as vscode from "vscode";

import type { Recaller } from "./recaller";
import { literal, why } from "./wording";

/** The answer to one message: a line for each note, with a reference to its file. */
export function answer(
  recaller: Recaller,
  prompt: string,
  stream: Pick<vscode.ChatResponseStream, "markdown" | "reference">,
  token: vscode.CancellationToken,
): Promise<void> {
  let found = false;
  return recaller
    .recallAll(
      prompt,
      ({ documents }) => {
        for (const note of documents) {
          found = true;
          stream.reference(vscode.Uri.file(note.path));
          stream.markdown(`- **${literal(note.title)}** ${literal(note.description)} (${literal(why(note))})\n`);
        }
      },
      token,
    )
    .then(() => {
      if (!found) {
        stream.markdown("No saved note matters for this.");
      }
    });
}

/** Register the participant where the editor has a chat; elsewhere nothing happens. */
export function registerParticipant(recaller: Recaller): vscode.Disposable {
  const participant = vscode.chat?.createChatParticipant?.(
    "memrecall.notes",
    (request, _context, stream, token) => answer(recaller, request.prompt, stream, token),
  );
  return participant ?? new vscode.Disposable(() => undefined);
}
