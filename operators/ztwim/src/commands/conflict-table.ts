import { BowlineError } from '@bowline/runtime';
import type { CommandColumn } from '@bowline/runtime/manager';
import type { Conflict } from '../resolve/shared-config.ts';

/** conflictColumns show a conflict with both values. */
export const conflictColumns: readonly CommandColumn<Conflict>[] = [
  { name: 'Field', value: ({ field }) => field },
  { name: 'Kind', value: ({ kind }) => kind },
  { name: 'Value', value: ({ value }) => value },
  { name: 'Wanted', value: ({ wanted }) => wanted },
  { name: 'Wanted by', value: ({ wantedBy }) => wantedBy },
];

/** conflictError is the error of commands that found conflicts. */
export function conflictError(conflicts: readonly Conflict[]): BowlineError {
  const fields = [...new Set(conflicts.map(({ field }) => field))].join(', ');
  return new BowlineError(
    'BOWLINE_ZTWIM_CONFLICT',
    `objects have different values of ${fields}; remove the field from the operand, or set both to the same value`,
  );
}
