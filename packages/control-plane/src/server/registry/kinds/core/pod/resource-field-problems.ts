import type { FieldProblem } from '@bowline/machinery';
import { notSupported, required } from '../../shared/problems.ts';

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

/** resourceFieldProblems validates the resource of a container that a variable or a file refers to. */
export function resourceFieldProblems(path: string, resource: string): FieldProblem[] {
  if (resource === '') return [required(path)];
  if (RESOURCES.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource)) return [];
  return [notSupported(path, resource, RESOURCES)];
}
