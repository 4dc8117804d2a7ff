import type { Config } from '../config.ts';
import type { OperandCondition } from './condition.ts';
import type { ReportTarget } from './report.ts';

const TYPE = 'CreateOnlyMode';

/** createOnlyMode returns the condition that existing objects are not changed. It is absent if that was never configured. */
export function createOnlyMode({ object }: ReportTarget, { createOnly }: Config): readonly OperandCondition[] {
  if (createOnly) {
    const message = 'missing objects are created, but none is changed, because the setting createOnly is true';
    return [{ type: TYPE, status: true, reason: 'CreateOnlyModeEnabled', message }];
  }
  if (!object.status?.conditions?.some(({ type }) => type === TYPE)) return [];
  return [{ type: TYPE, status: false, reason: 'CreateOnlyModeDisabled', message: 'objects are changed again' }];
}
