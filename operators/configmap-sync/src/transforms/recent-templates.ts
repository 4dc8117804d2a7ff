import { compileTemplate, type Template } from './template.ts';

// A template may be as long as 256 KiB, and its compiled form is several times as large.
const MOST_CHARACTERS = 1_048_576;

const recent = new Map<string, Template>();
let characters = 0;

/** recentTemplate is `compileTemplate` with a memory: every reconcile of a ConfigMapSync asks for the same ones. */
export function recentTemplate(template: string): Template {
  const known = recent.get(template);
  if (known) {
    // Moves it to the end: the map's order is the order of use.
    recent.delete(template);
    recent.set(template, known);
    return known;
  }
  const fresh = compileTemplate(template);
  recent.set(template, fresh);
  characters += template.length;
  for (const oldest of recent.keys()) {
    if (characters <= MOST_CHARACTERS) break;
    recent.delete(oldest);
    characters -= oldest.length;
  }
  return fresh;
}
