/** The minimum number of cases per operator however little time there is: its first two actions. */
const MIN_CASES = 2;

/** actionOf returns the action of a seed. The first seed is 1, so that consecutive seeds run the actions in order. */
export function actionOf(actions: readonly string[], seed: number): string {
  return actions[(seed + actions.length - 1) % actions.length] ?? '';
}

/** Progress is the progress of an operator's cases. */
export interface Progress {
  /** The number of cases that were run. */
  readonly played: number;
  /** The requested number of cases. */
  readonly runs: number;
  readonly elapsedMs: number;
  /** How long new cases may start. */
  readonly seconds: number;
}

/** shouldContinue returns whether to start another case. */
export function shouldContinue({ played, runs, elapsedMs, seconds }: Progress): boolean {
  if (played >= runs) return false;
  return played < MIN_CASES || elapsedMs < seconds * 1000;
}

/** shareOf returns an operator's share of the total time, by its number of actions. */
export function shareOf(seconds: number, actions: readonly string[], all: readonly (readonly string[])[]): number {
  return (seconds * actions.length) / all.reduce((sum, each) => sum + each.length, 0);
}

/** notPlayed returns the actions for which there was no time. */
export function notPlayed(
  actions: readonly string[],
  outcomes: readonly { readonly action: string }[],
): readonly string[] {
  return actions.filter((action) => outcomes.every((outcome) => outcome.action !== action));
}
