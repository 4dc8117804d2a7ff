import type { ResourceRequirements } from '@bowline/kubernetes';
import { compareQuantities, type FieldProblem, labelKeyProblems, parseQuantity } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { forbidden, invalid, invalids, NOT_NEGATIVE, required } from '../../shared/problems.ts';

type Problems = FieldProblem[];

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);

/** resourceProblems validates the requests and limits of a container. */
export function resourceProblems(
  path: string,
  { limits = {}, requests = {} }: PartialObject<ResourceRequirements>,
): Problems {
  const problems: Problems = [];
  for (const [name, amount] of Object.entries(limits).sort(byName)) {
    problems.push(...amountProblems(`${path}.limits`, name, amount ?? ''));
  }
  for (const [name, amount = ''] of Object.entries(requests).sort(byName)) {
    problems.push(...amountProblems(`${path}.requests`, name, amount));
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit === undefined) {
      if (isExtended(name) || isHugePages(name)) {
        problems.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
      }
    } else if (isExtended(name) || isHugePages(name)) {
      if (compareQuantities(parseQuantity(amount), parseQuantity(limit)) !== 0) {
        problems.push(invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`));
      }
    } else if (compareQuantities(parseQuantity(amount), parseQuantity(limit)) > 0) {
      problems.push(invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`));
    }
  }
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)]);
  if ([...names].some(isHugePages) && !names.has('cpu') && !names.has('memory')) {
    problems.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  return problems;
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

/** resourceNameProblems validates the name of a resource. */
function resourceNameProblems(field: string, name: string): Problems {
  const problems = invalids(field, name, labelKeyProblems(name));
  if (name.includes('/') || STANDARD.has(name) || isHugePages(name)) return problems;
  if (problems.length === 0) {
    problems.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
  }
  return [...problems, invalid(field, name, 'must be a standard resource for containers')];
}

/** Extended resources are counted in whole units, and cannot be overcommitted. */
function isExtended(name: string): boolean {
  return name.includes('/') && !name.startsWith('kubernetes.io/') && !/^[^/]*\.kubernetes\.io\//.test(name);
}

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
