import { createHash } from 'node:crypto';
import { renderFile, TemplateError } from '../../templates/render-template.ts';
import type { TemplateVariables } from '../../templates/template-variables.ts';
import { SyncError } from '../sync-error.ts';
import { editJson } from './edit-json.ts';
import { parseJsonPath } from './json-path.ts';
import { JsonScanError } from './json-scanner.ts';

/** Transform is one change to the content of a file on its way to the gateway. It is pure: same input, same bytes. */
export type Transform =
  /** Replaces the template variables in the file. */
  | { readonly kind: 'template'; readonly variables: TemplateVariables }
  /** Sets a string wherever the member exists. */
  | { readonly kind: 'system-name'; readonly value: string }
  /** Sets the value at a path where it exists. `field` is the index of the field, which must exist in some file. */
  | { readonly kind: 'field'; readonly jsonPath: string; readonly value: string; readonly field: number }
  /** Sets the value at a path, and creates the member if it is missing. */
  | { readonly kind: 'patch'; readonly jsonPath: string; readonly value: string };

/** Transformed is the content of a file after its transforms. */
export interface Transformed {
  readonly bytes: Buffer;
  /** The indexes of the fields that the file has. */
  readonly fields: readonly number[];
}

/** MAX_TRANSFORM_BYTES is the maximum size of a file with transforms: it is held in memory several times. */
export const MAX_TRANSFORM_BYTES = 8 * 1024 * 1024;

/** How much of a file git reads to tell whether it is binary. */
const BINARY_PROBE_BYTES = 8 * 1024;

/** hashTransforms returns a hash that differs between any two lists of transforms, '' for none. */
export function hashTransforms(transforms: readonly Transform[]): string {
  if (transforms.length === 0) return '';
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(transforms, sorted)).digest('hex').slice(0, 32);
}

/** applyTransforms returns the content of a file after its transforms. `path` is named in errors. */
export function applyTransforms(content: Buffer, transforms: readonly Transform[], path: string): Transformed {
  let bytes = content;
  const fields = new Set<number>();
  for (const transform of transforms) {
    if (transform.kind === 'template') bytes = renderTextFile(bytes, transform.variables, path);
    else {
      const edited = edit(bytes, transform, path);
      bytes = edited.bytes;
      if (transform.kind === 'field' && edited.isFound) fields.add(transform.field);
    }
  }
  return { bytes, fields: [...fields] };
}

function renderTextFile(bytes: Buffer, variables: TemplateVariables, path: string): Buffer {
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) {
    throw new SyncError('TemplateFailed', {
      path,
      problem: 'the file is binary and its mapping is a template',
      remedy: 'exclude it, or map it separately without template',
    });
  }
  try {
    return renderFile(bytes, variables, { source: path });
  } catch (error) {
    throw error instanceof TemplateError ? templateFailed(path, error) : error;
  }
}

/** templateFailed returns the error of a template that uses a variable without a value. */
export function templateFailed(path: string, error: TemplateError): SyncError {
  const { line, placeholder, problem } = error;
  return new SyncError('TemplateFailed', {
    path,
    problem: `line ${line} uses ${placeholder}, which has no value`,
    remedy: problem,
    cause: error,
  });
}

function edit(bytes: Buffer, transform: Exclude<Transform, { kind: 'template' }>, path: string) {
  const isName = transform.kind === 'system-name';
  const jsonPath = isName ? '.systemName' : transform.jsonPath;
  const parsed = parseJsonPath(jsonPath);
  if (parsed === undefined) {
    throw new SyncError('TemplateFailed', {
      path,
      problem: `${jsonPath} is not a JSON path`,
      remedy: 'use .name and [n] parts only',
    });
  }
  const options = { keepsType: !isName, creates: transform.kind === 'patch' };
  try {
    const edited = editJson(bytes, { path: parsed, value: transform.value, ...options });
    if (edited.isFound || transform.kind !== 'patch') return edited;
  } catch (error) {
    if (error instanceof JsonScanError) throw syntaxError(path, error);
    throw error;
  }
  throw new SyncError('TemplateFailed', {
    path,
    problem: `${jsonPath} cannot be set: a part of the path is not an object, or the item does not exist`,
    remedy: 'correct the path of the patch or the file',
  });
}

/** syntaxError returns the error for a file that is not JSON. */
export function syntaxError(path: string, error: JsonScanError): SyncError {
  return new SyncError('ConfigSyntaxError', {
    path,
    problem: `the file is not JSON: ${error.message}`,
    remedy: 'correct it in the repository',
    cause: error,
  });
}
