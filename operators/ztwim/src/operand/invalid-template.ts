import type { ApiError } from '@bowline/runtime/client';
import type { OperandCondition } from './condition.ts';

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/\.affinity\b/, 'InvalidAffinity'],
  [/\.tolerations\b/, 'InvalidTolerations'],
  [/\.nodeSelector\b/, 'InvalidNodeSelector'],
  [/\.resources\b/, 'InvalidResources'],
  [/\.labels\b/, 'InvalidLabels'],
];

const MAX_NAMED = 5;

/** invalidTemplate returns the condition about a pod template that the API server refused: its causes name the fields. */
export function invalidTemplate(error: ApiError): OperandCondition {
  const { causes } = error;
  const fields = causes.map(({ field }) => field ?? '');
  const [, reason = 'InvalidConfiguration'] =
    REASONS.find(([pattern]) => fields.some((field) => pattern.test(field))) ?? [];
  const named = causes.slice(0, MAX_NAMED).map(({ field: path, message }) => `${path}: ${message}`);
  const more = causes.length > MAX_NAMED ? [`${causes.length - MAX_NAMED} more`] : [];
  const details = [...named, ...more].join('; ') || error.message;
  return {
    type: 'ConfigurationValid',
    status: false,
    reason,
    message: `the API server refuses the pods: ${details}; correct the value in this object or in the ZeroTrustWorkloadIdentityManager`,
  };
}
