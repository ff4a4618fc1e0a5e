// A language model in the editor whose answers the tests decide: the extension exports `answer` and what was asked.
const vscode = require("vscode");

exports.activate = (context) => {
  const model = { answer: () => "", asked: [], register, unregister };
  let registration;

  const provider = {
    async provideLanguageModelResponse(messages, _options, _extension, progress) {
      const text = messages.map((message) => message.content.map((part) => part.value).join("")).join("\n\n");
      model.asked.push(text);
      const answer = await model.answer(text);
      progress.report({ index: 0, part: new vscode.LanguageModelTextPart(answer) });
    },
    async provideTokenCount(text) {
      return String(text).length;
    },
  };

  function register() {
    registration = vscode.lm.registerChatModelProvider("test-model", provider, {
      name: "Test model",
      vendor: "memrecall-tests",
      family: "test-family",
      version: "1",
      maxInputTokens: 100_000,
      maxOutputTokens: 1_000,
    });
  }

  function unregister() {
    registration?.dispose();
    registration = undefined;
  }

  context.subscriptions.push({ dispose: unregister });
  return model;
};
