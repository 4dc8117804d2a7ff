import { createPatch } from 'rfc6902';
import { BowlineError } from '../errors/bowline-error.ts';
import { isObject, isSameJson, type JsonObject, member, setMember, withMember } from '../json/json.ts';

/** JsonPatchOperation is one operation of an RFC 6902 patch. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

// The API server's limit for one patch.
const MAX_OPERATIONS = 10_000;
// Copies of copies double with each operation; the API server would not store a document this large.
const MAX_COPIED_VALUES = 1_000_000;

/**
 * applyJsonPatch returns the document that results from an RFC 6902 patch. The input is not changed; parts that the
 * patch does not touch are shared with it. Either all operations apply or none: the first failure throws an error that
 * names the operation.
 *
 * It does not use the library that computes our patches: that library changes its input, cannot replace the whole
 * document, finds inherited members, and resolves a pointer through `__proto__` or `constructor` to the wrong value.
 *
 * @example
 * applyJsonPatch({ a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }]); // { a: [1, 2] }
 */
export function applyJsonPatch(document: unknown, patch: readonly JsonPatchOperation[]): unknown {
  if (!Array.isArray(patch)) throw malformed('it is not an array of operations');
  if (patch.length > MAX_OPERATIONS)
    throw malformed(`it has ${patch.length} operations, the limit is ${MAX_OPERATIONS}`);
  let copied = 0;
  const clone = (value: unknown): unknown => {
    if (++copied > MAX_COPIED_VALUES) throw new NotApplicable(`copies more than ${MAX_COPIED_VALUES} values`);
    if (Array.isArray(value)) return value.map(clone);
    if (!isObject(value)) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) setMember(copy, key, clone(value[key]));
    return copy;
  };
  return patch.reduce((current: unknown, operation: JsonPatchOperation, index) => {
    const read = (pointer: unknown, name: string): string[] => {
      const tokens = typeof pointer === 'string' ? parsePointer(pointer) : undefined;
      if (!tokens) throw malformed(`operation ${index} has a "${name}" that is not a JSON pointer`);
      return tokens;
    };
    if (!isObject(operation)) throw malformed(`operation ${index} is not an object`);
    const path = read(operation.path, 'path');
    try {
      switch (operation.op) {
        case 'add':
        case 'replace':
        case 'test': {
          if (operation.value === undefined) throw malformed(`operation ${index} (${operation.op}) has no "value"`);
          if (operation.op === 'add') return add(current, path, clone(operation.value));
          if (operation.op === 'replace') return replace(current, path, clone(operation.value));
          if (!hasValueAt(current, path, operation.value)) throw new NotApplicable('the current value is different');
          return current;
        }
        case 'remove':
          return remove(current, path);
        case 'copy':
          return add(current, path, clone(getOrNull(current, read(operation.from, 'from'))));
        case 'move': {
          const from = read(operation.from, 'from');
          if (from.length < path.length && from.every((token, depth) => token === path[depth]))
            throw new NotApplicable('a value cannot move into itself');
          const moved = get(current, from);
          // Only a move of the document onto itself is left here, and RFC 6902 allows it.
          return from.length === 0 ? moved : add(remove(current, from), path, moved);
        }
        default:
          throw malformed(`operation ${index} has an unknown "op"`);
      }
    } catch (error) {
      throw error instanceof NotApplicable ? failed(index, operation, error.message) : error;
    }
  }, document);
}

/** The reason why an operation does not apply to the document; it is caught and rethrown with the operation. */
class NotApplicable extends Error {}

function malformed(problem: string): BowlineError {
  return new BowlineError('BOWLINE_PATCH_INVALID', `invalid JSON patch: ${problem}; see RFC 6902`);
}

function failed(index: number, { op, path }: JsonPatchOperation, problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_PATCH_FAILED',
    `operation ${index} (${op} ${JSON.stringify(path)}) does not apply: ${problem}`,
  );
}

function hasValueAt(document: unknown, path: readonly string[], value: unknown): boolean {
  return isSameJson(value === null ? getOrNull(document, path) : get(document, path), value);
}

/** The API server treats a missing member of an object as null in test and copy operations. */
function getOrNull(document: unknown, path: readonly string[]): unknown {
  const token = path.at(-1);
  if (token === undefined) return document;
  const parent = get(document, path.slice(0, -1));
  return Array.isArray(parent) || !isObject(parent) ? child(parent, token) : (member(parent, token) ?? null);
}

function get(value: unknown, tokens: readonly string[]): unknown {
  return tokens.reduce(child, value);
}

/** The child must exist: every operation that reads a missing child fails. */
function child(parent: unknown, token: string): unknown {
  const found = Array.isArray(parent)
    ? parent[indexOf(token, parent.length - 1)]
    : isObject(parent)
      ? member(parent, token)
      : undefined;
  if (found === undefined) throw new NotApplicable(`${JSON.stringify(token)} does not exist`);
  return found;
}

function indexOf(token: string, last: number): number {
  if (!/^(?:0|[1-9][0-9]*)$/.test(token)) throw new NotApplicable(`${JSON.stringify(token)} is not an array index`);
  const index = Number(token);
  if (index > last) throw new NotApplicable(`index ${token} does not exist`);
  return index;
}

/** Copies the containers along the path and lets `change` edit the innermost one. */
function edit(value: unknown, tokens: readonly string[], change: (parent: unknown, token: string) => unknown): unknown {
  const [token, ...rest] = tokens;
  if (token === undefined) throw new NotApplicable('the document itself has no parent');
  if (rest.length === 0) return change(value, token);
  const next = edit(child(value, token), rest, change);
  if (Array.isArray(value)) return value.with(Number(token), next);
  return isObject(value) ? withMember(value, token, next) : value;
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return edit(document, path, (parent, token) => {
    if (Array.isArray(parent))
      return parent.toSpliced(token === '-' ? parent.length : indexOf(token, parent.length), 0, value);
    if (isObject(parent)) return withMember(parent, token, value);
    throw new NotApplicable('its parent is neither an object nor an array');
  });
}

function replace(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return edit(document, path, (parent, token) => {
    // The API server also replaces a member that does not exist.
    if (isObject(parent) && !Array.isArray(parent)) return withMember(parent, token, value);
    child(parent, token);
    return Array.isArray(parent) ? parent.with(Number(token), value) : parent;
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  return edit(document, path, (parent, token) => {
    child(parent, token);
    if (Array.isArray(parent)) return parent.toSpliced(Number(token), 1);
    return isObject(parent) ? withMember(parent, token, undefined) : parent;
  });
}

// Comparing two lists takes time, memory and stack in proportion to the product of their lengths.
const MAX_LIST_COMPARISON = 4096;

/**
 * diffJsonPatch returns the RFC 6902 operations that turn `from` into `to`, with few operations; empty if both are the
 * same JSON. Undefined members count as absent. Lists whose lengths multiply to more than 4096 are replaced as a whole.
 */
export function diffJsonPatch(from: unknown, to: unknown): JsonPatchOperation[] {
  return createPatch(from, to, (input: unknown, output: unknown, pointer): JsonPatchOperation[] | undefined => {
    if (!Array.isArray(input) || !Array.isArray(output)) return undefined;
    if (input.length * output.length <= MAX_LIST_COMPARISON) return undefined;
    return isSameJson(input, output) ? [] : [{ op: 'replace', path: pointer.toString(), value: output }];
  });
}

/**
 * parsePointer splits an RFC 6901 pointer into its tokens; it returns undefined if the text is not a pointer. The empty
 * pointer is the document.
 */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** formatPointer reverses `parsePointer`. */
export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
