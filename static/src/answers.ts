// Answers to questions: sent without leaving the page; the verdict comes by the stream like any other.

import { announce } from "./announce";
import { onEvery, post } from "./dom";
import { word } from "./words";

type Answer = string | number | string[];

export function enableAnswers(): void {
  onEvery("submit", "form[data-question]", (element, event) => {
    event.preventDefault();
    void send(element as HTMLFormElement);
  });
}

async function send(form: HTMLFormElement): Promise<void> {
  const note = form.querySelector<HTMLElement>("[data-note]");
  const say = (text: string): void => {
    if (note) note.textContent = text;
  };
  const value = valueOf(form);
  if (value === undefined) return say(word("answer-empty"));
  const { lab, question } = form.dataset;
  try {
    const answer = await post(`/labs/${lab}/answers`, { question, value });
    say(answer.ok ? word("answer-kept") : await reason(answer));
  } catch {
    say(word("answer-lost"));
    announce(word("answer-lost"));
  }
}

async function reason(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => ({}))) as { message?: string };
  return body.message ?? word("answer-lost");
}

function valueOf(form: HTMLFormElement): Answer | undefined {
  const values = new FormData(form).getAll("value").map(String);
  const first = values[0]?.trim() ?? "";
  switch (form.dataset["kind"]) {
    case "choices":
      return values;
    case "number": {
      const number = Number(first.replace(",", "."));
      return first === "" || Number.isNaN(number) ? undefined : number;
    }
    default:
      return first === "" ? undefined : first;
  }
}
