import type { ResourceRequirements } from '@bowline/kubernetes';
import { compareQuantities, type FieldProblem, labelKeyProblems, parseQuantity } from '@bowline/machinery';
import type { Loose } from './loose.ts';
import { invalid, invalids, NOT_NEGATIVE } from './problems.ts';

type Problems = FieldProblem[];

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);

/** resourceProblems is what is wrong with what a container asks for, and may not exceed. */
export function resourceProblems(path: string, { limits = {}, requests = {} }: Loose<ResourceRequirements>): Problems {
  const problems: Problems = [];
  for (const [name, amount] of Object.entries(limits).sort(byName)) {
    problems.push(...amountProblems(`${path}.limits`, name, amount ?? ''));
  }
  for (const [name, amount = ''] of Object.entries(requests).sort(byName)) {
    problems.push(...amountProblems(`${path}.requests`, name, amount));
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit === undefined) {
      if (isExtended(name) || name.startsWith('hugepages-')) {
        problems.push(limitNeeded(`${path}.limits`, name));
      }
    } else if (isExtended(name) || name.startsWith('hugepages-')) {
      if (compareQuantities(parseQuantity(amount), parseQuantity(limit)) !== 0) {
        problems.push(invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`));
      }
    } else if (compareQuantities(parseQuantity(amount), parseQuantity(limit)) > 0) {
      problems.push(invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`));
    }
  }
  return problems;
}

function limitNeeded(field: string, _name: string): FieldProblem {
  const message = 'Required value: Limit must be set for non overcommitable resources';
  return { field, reason: 'FieldValueRequired', message };
}

function amountProblems(path: string, name: string, amount: string): Problems {
  const at = `${path}[${name}]`;
  const problems = resourceNameProblems(at, name);
  const { nanos } = parseQuantity(amount);
  if (nanos < 0n) problems.push(invalid(at, amount, NOT_NEGATIVE));
  else if (isExtended(name) && nanos % 1_000_000_000n !== 0n) {
    problems.push(invalid(at, amount, 'must be an integer'));
  }
  return problems;
}

/** resourceNameProblems is what is wrong with the name of something that can be asked for. */
export function resourceNameProblems(field: string, name: string): Problems {
  const problems = invalids(field, name, labelKeyProblems(name));
  if (problems.length > 0) return problems;
  if (!name.includes('/') && !STANDARD.has(name) && !name.startsWith('hugepages-')) {
    return [invalid(field, name, 'must be a standard resource for containers')];
  }
  return [];
}

/** Extended resources are counted in whole pieces, and nobody gets more than asked for. */
function isExtended(name: string): boolean {
  return name.includes('/') && !name.startsWith('kubernetes.io/') && !/^[^/]*\.kubernetes\.io\//.test(name);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
