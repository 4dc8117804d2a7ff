import type { Permission } from './permissions.ts';
import type { Outcome } from './play.ts';

/**
 * judge returns what is wrong with an operator's behaviour without one permission, or with all of them; undefined if nothing is.
 */
export function judge(taken: Permission | undefined, { broken, refused }: Outcome): string | undefined {
  if (!taken) {
    if (broken !== undefined) return `does not work: ${broken}; refused: ${refused.join(', ') || 'nothing'}`;
    return refused.length > 0 ? `works, but was refused: ${refused.join(', ')}` : undefined;
  }
  if (broken !== undefined && refused.length === 0) return `breaks, but nothing was refused: ${broken}`;
  if (broken !== undefined || taken.isCovered) return undefined;
  return refused.length > 0
    ? `works although it was refused ${refused.join(', ')}`
    : 'works without it: nothing needs it';
}
