import type { Outcome } from './play.ts';
import type { Right } from './rights.ts';

/** judge says what is wrong with how an operator did without a right, or with all of them; undefined when nothing is. */
export function judge(taken: Right | undefined, { broken, refused }: Outcome): string | undefined {
  if (!taken) {
    if (broken !== undefined) return `does not work: ${broken}; refused: ${refused.join(', ') || 'nothing'}`;
    return refused.length > 0 ? `works, but was refused: ${refused.join(', ')}` : undefined;
  }
  if (broken !== undefined && refused.length === 0) return `breaks, but was refused nothing: ${broken}`;
  if (broken !== undefined || taken.isCovered) return undefined;
  return refused.length > 0
    ? `works all the same, though it was refused ${refused.join(', ')}`
    : 'works all the same: nothing needs it';
}
