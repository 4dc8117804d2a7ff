import { quoteText } from '@bowline/machinery';
import { isTrue } from '../http/request-info.ts';
import { invalid } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';

/** FieldValidation configures the handling of unknown fields. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** WriteOptions holds the query parameters of a write. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** For an apply: take fields from other managers. */
  readonly force: boolean;
  /** As webhooks see them. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const MAX_MANAGER_BYTES = 128;

/** writeOptions parses and validates the parameters of a write; `kind` names them in messages. */
export function writeOptions(
  { query, request }: Pick<RequestContext, 'query' | 'request'>,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const wrong = (
    field: string,
    message: string,
    reason: 'FieldValueInvalid' | 'FieldValueNotSupported' | 'FieldValueTooLong',
  ): never => {
    throw invalid({ group: 'meta.k8s.io', kind }, '', [{ field, reason, message }]);
  };
  const dryRun = query.getAll('dryRun');
  if (dryRun.some((each) => each !== 'All'))
    wrong('dryRun', `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`, 'FieldValueNotSupported');
  const given = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(given)) {
    wrong(
      'fieldValidation',
      `Unsupported value: ${JSON.stringify(given)}: supported values: "", "Ignore", "Strict", "Warn"`,
      'FieldValueNotSupported',
    );
  }
  const manager = query.get('fieldManager') ?? '';
  if (manager.length > MAX_MANAGER_BYTES)
    wrong('fieldManager', `Too long: may not be more than ${MAX_MANAGER_BYTES} bytes`, 'FieldValueTooLong');
  const position = manager.search(/[^\x20-\x7e\u00a0-\u{10ffff}]/u);
  if (position >= 0) {
    const code = (manager.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    wrong(
      'fieldManager',
      `Invalid value: ${quoteText(manager)}: invalid character U+${code} (at position ${position})`,
      'FieldValueInvalid',
    );
  }
  const force = query.get('force');
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager || userAgentName(request.headers['user-agent']),
    fieldValidation: (given || 'Warn') as FieldValidation,
    force: isTrue(force),
    raw: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 ? { dryRun } : {}),
      ...(manager ? { fieldManager: manager } : {}),
      ...(given ? { fieldValidation: given } : {}),
      ...(force === null ? {} : { force: isTrue(force) }),
    },
  };
}

/** userAgentName returns the field manager of a client that specifies none. */
function userAgentName(agent: string | undefined): string {
  return (agent?.split('/')[0] ?? '').slice(0, MAX_MANAGER_BYTES) || 'unknown';
}
