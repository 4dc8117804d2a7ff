import type { Condition } from '@bowline/kubernetes';
import { type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { PartialObject } from './partial-object.ts';
import { duplicate, invalid, invalids, notSupported, required } from './problems.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', " +
  "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or " +
  `'ReasonA:ReasonB', regex used for validation is '${REASON}')`;

/** conditionsProblems validates the conditions in a status. */
export function conditionsProblems(at: string, conditions: readonly PartialObject<Condition>[]): FieldProblem[] {
  const types = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const here = `${at}[${index}]`;
    const { type = '' } = condition;
    const isDuplicate = types.has(type);
    types.add(type);
    return [...(isDuplicate ? [duplicate(`${here}.type`, type)] : []), ...conditionProblems(here, condition)];
  });
}

function conditionProblems(at: string, condition: PartialObject<Condition>): FieldProblem[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  const problems = invalids(`${at}.type`, type, labelKeyProblems(type));
  if (!STATUSES.includes(status)) problems.push(notSupported(`${at}.status`, status, STATUSES));
  if (observedGeneration < 0) {
    const detail = 'must be greater than or equal to zero';
    problems.push(invalid(`${at}.observedGeneration`, observedGeneration, detail));
  }
  if (lastTransitionTime === undefined || lastTransitionTime === null)
    problems.push(required(`${at}.lastTransitionTime`));
  if (reason === '') problems.push(required(`${at}.reason`));
  else {
    if (!new RegExp(`^${REASON}$`).test(reason)) problems.push(invalid(`${at}.reason`, reason, REASON_RULE));
    problems.push(...lengthProblems(`${at}.reason`, reason, MAX_REASON_BYTES));
  }
  return [...problems, ...lengthProblems(`${at}.message`, message, MAX_MESSAGE_BYTES)];
}

function lengthProblems(field: string, text: string, max: number): FieldProblem[] {
  if (Buffer.byteLength(text) <= max) return [];
  return [{ field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${max} bytes` }];
}
