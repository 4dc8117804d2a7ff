import { byUtf8, quoteText } from '../json/go-text.ts';
import { isObject, type JsonObject } from '../json/json.ts';
import { elementPath } from './field-paths.ts';
import type { FieldShape } from './field-shape.ts';
import { elementNames, elementProblem } from './list-elements.ts';

/** The maximum number of reported problems: more are of no use, and there may be as many as the document has values. */
const MAX_PROBLEMS = 100;

/**
 * shapeProblems returns the reasons why a value cannot be applied, in the API server's wording: members that its shape
 * does not have, values of a wrong type, and elements of lists that cannot be identified.
 */
export function shapeProblems(value: unknown, shape: FieldShape): string[] {
  const problems: string[] = [];
  findProblems(value, shape, '', problems);
  return problems;
}

function findProblems(value: unknown, shape: FieldShape, path: string, problems: string[]): void {
  if (value === null || value === undefined || problems.length >= MAX_PROBLEMS) return;
  const addProblem = (problem: string): void => {
    problems.push(`${path}: ${problem}`);
  };
  switch (shape.type) {
    case 'object':
      if (isObject(value)) findInMembers(value, shape, path, problems);
      else addProblem(`expected map, got &{${goText(value)}}`);
      break;
    case 'array':
      if (Array.isArray(value)) findInElements(value, shape, path, problems);
      else addProblem(`expected list, got &{${goText(value)}}`);
      break;
    case 'string':
      if (typeof value !== 'string')
        addProblem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
      break;
    case 'boolean':
      if (typeof value !== 'boolean') addProblem(`expected boolean, got &{${goText(value)}}`);
      break;
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        addProblem(`expected numeric (int or float), got ${goType(value)}`);
      break;
    case 'scalar':
      if (typeof value === 'object') addProblem(`expected any scalar, got &{${goText(value)}}`);
      break;
    case undefined:
  }
}

function findInMembers(object: JsonObject, shape: FieldShape, path: string, problems: string[]): void {
  for (const name of Object.keys(object)) {
    const below = shape.member(name);
    if (below) {
      findProblems(object[name], below, `${path}.${name}`, problems);
    } else if (object[name] !== undefined) {
      problems.push(`${path}.${name}: field not declared in schema`);
      return;
    }
  }
}

function findInElements(list: readonly unknown[], shape: FieldShape, path: string, problems: string[]): void {
  const element = shape.element();
  const known = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (problems.length >= MAX_PROBLEMS) return;
    let here = `${path}[${index}]`;
    if (shape.listType !== 'atomic') {
      const problem = elementProblem(item, shape);
      const [name = ''] = elementNames([item], shape) ?? [];
      if (problem !== undefined) {
        problems.push(`${path}: element ${index}: ${problem}`);
        return;
      }
      if (known.has(name)) problems.push(`${path}: duplicate entries for key ${elementPath(name)}`);
      known.add(name);
      here = `${path}${elementPath(name)}`;
    }
    if (element) findProblems(item, element, here, problems);
  }
}

/** Formats a value like Go's `%v`. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).sort(byUtf8);
  return `map[${names.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}

/** Formats a value in Go syntax. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return quoteText(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).sort(byUtf8);
  return `map[string]interface {}{${names.map((name) => `${quoteText(name)}:${goSyntax(value[name])}`).join(', ')}}`;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
