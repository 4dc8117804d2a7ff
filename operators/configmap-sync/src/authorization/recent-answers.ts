import type { Clock } from '@bowline/machinery';

/** RecentAnswersOptions bounds a memory in time and size. */
export interface RecentAnswersOptions {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly most: number;
}

/** RecentAnswers remembers answers for a while. All are kept equally long, so that the first to go is the oldest. */
export class RecentAnswers<V> {
  readonly #options: RecentAnswersOptions;
  readonly #answers = new Map<string, { readonly value: V; readonly until: number }>();

  constructor(options: RecentAnswersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#answers.size;
  }

  get(key: string): V | undefined {
    const answer = this.#answers.get(key);
    return answer && answer.until > this.#options.clock.monotonic() ? answer.value : undefined;
  }

  set(key: string, value: V): void {
    const { clock, keepMs, most } = this.#options;
    if (keepMs <= 0) return;
    const now = clock.monotonic();
    this.#answers.delete(key);
    this.#answers.set(key, { value, until: now + keepMs });
    for (const [oldest, { until }] of this.#answers) {
      if (until > now && this.#answers.size <= most) break;
      this.#answers.delete(oldest);
    }
  }
}
