/** MAX_MIRROR_ERRORS is the maximum number of errors in a result; more are counted. */
export const MAX_MIRROR_ERRORS = 20;

const MAX_ERROR_LENGTH = 1_024;

/** MirrorErrors collects the first errors of a round. */
export class MirrorErrors {
  readonly #messages: string[] = [];
  #count = 0;

  get messages(): readonly string[] {
    return this.#messages;
  }

  get count(): number {
    return this.#count;
  }

  add(message: string): void {
    this.#count++;
    if (this.#messages.length < MAX_MIRROR_ERRORS) this.#messages.push(message.slice(0, MAX_ERROR_LENGTH));
  }
}
