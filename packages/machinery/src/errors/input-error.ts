import { BowlineError } from './bowline-error.ts';

/**
 * InputError is about text that somebody wrote: a quantity, a duration, a selector. Its message names the text; `detail`
 * is the API server's wording alone, for whoever puts it behind a field path.
 */
export class InputError extends BowlineError {
  readonly detail: string;

  constructor(code: `BOWLINE_${string}`, what: string, text: string, detail: string) {
    super(code, `cannot read ${what} ${JSON.stringify(abbreviate(text))}: ${detail}`);
    this.detail = detail;
  }
}

// Input may be as long as a request body; a message has to fit into a log line.
const LONGEST_QUOTE = 100;

function abbreviate(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}
