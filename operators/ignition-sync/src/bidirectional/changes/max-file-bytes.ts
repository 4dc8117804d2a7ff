import { parseQuantity, wholeUnits } from '@bowline/machinery';
import type { IgnitionSyncSpec } from '../../api/ignition-sync.ts';

/** Guardrails are the limits of what is sent to Git. */
type Guardrails = NonNullable<IgnitionSyncSpec['bidirectional']>['guardrails'];

/** maxFileBytes returns `guardrails.maxFileSize` in bytes. */
export function maxFileBytes({ maxFileSize }: Pick<Guardrails, 'maxFileSize'>): number {
  return Number(wholeUnits(parseQuantity(maxFileSize)));
}
