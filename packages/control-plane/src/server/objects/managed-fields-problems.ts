import { type FieldProblem, quoteText } from '@bowline/machinery';
import type { DraftMeta } from '../registry/api-resource.ts';

const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

/** managedFieldsProblems validates the names in an object's managedFields, which a client may have sent. */
export function managedFieldsProblems(entries: DraftMeta['managedFields']): FieldProblem[] {
  return (entries ?? []).flatMap(({ manager = '', subresource = '' }, index) => {
    const field = `metadata.managedFields[${index}]`;
    return [
      ...managerProblems(`${field}.manager`, manager),
      ...tooLong(`${field}.subresource`, subresource, MAX_SUBRESOURCE_BYTES),
    ];
  });
}

function managerProblems(field: string, manager: string): FieldProblem[] {
  const problems = tooLong(field, manager, MAX_MANAGER_BYTES);
  if (problems.length > 0) return problems;
  let position = 0;
  for (const character of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const message = `Invalid value: ${quoteText(manager)}: invalid character U+${code} (at position ${position})`;
      return [{ field, reason: 'FieldValueInvalid', message }];
    }
    position += Buffer.byteLength(character);
  }
  return problems;
}

function tooLong(field: string, text: string, limit: number): FieldProblem[] {
  if (text.length <= limit / 4 || Buffer.byteLength(text) <= limit) return [];
  return [{ field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limit} bytes` }];
}
