import { fieldPaths } from '@bowline/machinery';
import { StatusError } from '../status/api-status.ts';
import type { Conflict } from './apply-fields.ts';
import type { Manager } from './managers.ts';

/**
 * applyConflict returns the error for an apply that would change fields owned by other managers. It has a cause for
 * every field.
 */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const each = conflicts.map(({ owner, fields }) => ({ owner: ownerText(owner), paths: fieldPaths(fields) }));
  const causes = each.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [only, ...more] = causes;
  const message =
    only && more.length === 0
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${each
          .map(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)].join('\n'))
          .join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function ownerText({ manager, subresource, operation, apiVersion }: Manager): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
