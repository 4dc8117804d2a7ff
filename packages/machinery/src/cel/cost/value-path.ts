import type { SizedType } from './sized-type.ts';

/**
 * ValuePath locates the value of a part of an expression: a variable and the steps from it. The API server appends to
 * paths that share memory, as Go slices do, so a longer path can overwrite another one of the same length. Its
 * estimates depend on that, and so do ours.
 */
export interface ValuePath {
  readonly cells: string[];
  readonly capacity: number;
  readonly length: number;
}

/** append returns a path with one more step. */
export function append(path: ValuePath | undefined, step: string): ValuePath {
  const { cells, capacity, length } = path ?? { cells: [], capacity: 0, length: 0 };
  if (length < capacity) {
    cells[length] = step;
    return { cells, capacity, length: length + 1 };
  }
  return { cells: [...cells.slice(0, length), step], capacity: Math.max(1, capacity * 2), length: length + 1 };
}

/** typeAt returns the type at a path. The API server ignores the first step, whatever it is. */
export function typeAt(path: ValuePath | undefined, root: SizedType): SizedType | undefined {
  if (path === undefined) return undefined;
  let type: SizedType | undefined = root;
  for (let index = 1; index < path.length && type !== undefined; index++) type = below(type, path.cells[index] ?? '');
  return type;
}

function below(type: SizedType, step: string): SizedType | undefined {
  if (step === '@items' || step === '@values') return type.element;
  return step === '@keys' ? type.key : type.fields?.get(step);
}

/** formatPath formats a path as an expression: `self.items[*].name`. */
export function formatPath({ cells, length }: ValuePath): string {
  return cells
    .slice(0, length)
    .map((step, index) => (index === 0 ? step : step.startsWith('@') ? '[*]' : `.${step}`))
    .join('');
}
