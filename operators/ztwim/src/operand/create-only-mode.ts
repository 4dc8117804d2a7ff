import type { Config } from '../config.ts';
import type { OperandCondition } from './condition.ts';

const TYPE = 'CreateOnlyMode';

interface WithConditions {
  readonly object: {
    readonly status?: { readonly conditions?: readonly { readonly type: string }[] | undefined } | undefined;
  };
}

/** createOnlyMode returns the condition that existing objects are not changed. It is absent if that was never configured. */
export function createOnlyMode(
  { object }: WithConditions,
  { createOnly }: Pick<Config, 'createOnly'>,
): readonly OperandCondition[] {
  if (createOnly) {
    const message = 'missing objects are created, but none is changed, because the setting createOnly is true';
    return [{ type: TYPE, status: true, reason: 'CreateOnlyModeEnabled', message }];
  }
  if (!object.status?.conditions?.some(({ type }) => type === TYPE)) return [];
  return [{ type: TYPE, status: false, reason: 'CreateOnlyModeDisabled', message: 'objects are changed again' }];
}
