/**
 * reasons says, per target, what a profile showed to cost too much; printed only where the target was missed. An entry is
 * removed when its cause is.
 */
const reasons: Readonly<Record<string, string>> = {};

/** whyMissed is the known reason why this target is missed. */
export function whyMissed(target: string): string | undefined {
  return reasons[target];
}
