import { BowlineError } from './bowline-error.ts';

/**
 * InputError reports invalid text from a user: a quantity, a duration, a selector. Its message contains the text;
 * `detail` is the API server's wording alone, for callers that put it after a field path.
 */
export class InputError extends BowlineError {
  readonly detail: string;

  constructor(code: `BOWLINE_${string}`, what: string, text: string, detail: string) {
    super(code, `cannot parse ${what} ${JSON.stringify(abbreviate(text))}: ${detail}`);
    this.detail = detail;
  }
}

// Input may be as long as a request body; a message must fit into a log line.
const MAX_QUOTE_LENGTH = 100;

function abbreviate(text: string): string {
  return text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}…` : text;
}
