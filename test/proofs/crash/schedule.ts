/** So many cases are played of each operator however little time there is: its first two deeds. */
const LEAST_CASES = 2;

/** deedOf is the deed that a seed stands for. The first seed is 1, so that seeds in order play the deeds in their order. */
export function deedOf(deeds: readonly string[], seed: number): string {
  return deeds[(seed + deeds.length - 1) % deeds.length] ?? '';
}

/** Progress is how far an operator has come. */
export interface Progress {
  /** Cases that were played. */
  readonly played: number;
  /** How many are asked for. */
  readonly runs: number;
  readonly elapsedMs: number;
  /** How long new cases may begin. */
  readonly seconds: number;
}

/** goesOn is whether another case begins. */
export function goesOn({ played, runs, elapsedMs, seconds }: Progress): boolean {
  if (played >= runs) return false;
  return played < LEAST_CASES || elapsedMs < seconds * 1000;
}

/** shareOf is an operator's part of the time for all of them: whoever has more deeds gets more. */
export function shareOf(seconds: number, deeds: readonly string[], all: readonly (readonly string[])[]): number {
  return (seconds * deeds.length) / all.reduce((sum, each) => sum + each.length, 0);
}

/** notPlayed are the deeds for which there was no time. */
export function notPlayed(deeds: readonly string[], outcomes: readonly { readonly deed: string }[]): readonly string[] {
  return deeds.filter((deed) => outcomes.every((outcome) => outcome.deed !== deed));
}
