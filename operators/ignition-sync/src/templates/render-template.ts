import { BowlineError } from '@bowline/machinery';
import { type TemplateVariables, variableValue } from './template-variables.ts';

/** RenderOptions configures the rendering of a template. */
export interface RenderOptions {
  /** Where the template is, for errors: a file, an annotation or a field. */
  readonly source: string;
}

// Everything else stays as it is, so that braces in JSON and scripts survive. Keys of labels contain dots and slashes.
const PLACEHOLDER = /\{\{[ \t]*\.([A-Za-z_][A-Za-z0-9_./-]*)[ \t]*\}\}/g;

/**
 * renderTemplate replaces the variables of a template, `{{.GatewayName}}`. There are no functions and no pipes. It throws
 * BOWLINE_IGNITION_TEMPLATE, with source, line and variable, if a variable is unknown or has no value.
 *
 * @example
 * renderTemplate('sites/{{.SiteNumber}}', variables, { source: 'ignition-sync.io/service-path' });
 */
export function renderTemplate(text: string, variables: TemplateVariables, { source }: RenderOptions): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string, offset: number) => {
    const found = variableValue(name, variables);
    if ('value' in found) return found.value;
    throw new BowlineError(
      'BOWLINE_IGNITION_TEMPLATE',
      `cannot render ${source}, line ${lineOf(text, offset)}: ${placeholder}: ${found.problem}`,
    );
  });
}

/** isTemplate reports whether a text contains variables. */
export function isTemplate(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
