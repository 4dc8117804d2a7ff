import { BowlineError } from '@bowline/machinery';
import { type TemplateVariables, variableValue } from './template-variables.ts';

/** RenderOptions configures the rendering of a template. */
export interface RenderOptions {
  /** Where the template is, for errors: a file, an annotation or a field. */
  readonly source: string;
}

/** TemplateError reports a variable without a value. */
export class TemplateError extends BowlineError {
  override readonly name = 'TemplateError';
  /** The variable as it stands in the template. */
  readonly placeholder: string;
  readonly line: number;
  /** Why it has no value, and how to fix that. */
  readonly problem: string;

  constructor(source: string, { placeholder, line, problem }: Pick<TemplateError, 'placeholder' | 'line' | 'problem'>) {
    super('BOWLINE_IGNITION_TEMPLATE', `cannot render ${source}, line ${line}: ${placeholder}: ${problem}`);
    this.placeholder = placeholder;
    this.line = line;
    this.problem = problem;
  }
}

// Everything else stays as it is, so that braces in JSON and scripts survive. Keys of labels contain dots and slashes.
const PLACEHOLDER = /\{\{[ \t]*\.([A-Za-z_][A-Za-z0-9_./-]*)[ \t]*\}\}/g;

/**
 * renderTemplate replaces the variables of a template, `{{.GatewayName}}`. There are no functions and no pipes. It throws
 * a TemplateError if a variable is unknown or has no value.
 *
 * @example
 * renderTemplate('sites/{{.SiteNumber}}', variables, { source: 'ignition-sync.io/service-path' });
 */
export function renderTemplate(text: string, variables: TemplateVariables, options: RenderOptions): string {
  return replaceVariables(text, variables, options, (value) => value);
}

/** renderFile is `renderTemplate` for a file. It leaves every other byte unchanged, also if the file is not UTF-8. */
export function renderFile(bytes: Buffer, variables: TemplateVariables, options: RenderOptions): Buffer {
  // In latin1, each byte is one character.
  const encode = (value: string): string => Buffer.from(value).toString('latin1');
  return Buffer.from(replaceVariables(bytes.toString('latin1'), variables, options, encode), 'latin1');
}

/** isTemplate reports whether a text contains variables. */
export function isTemplate(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

function replaceVariables(
  text: string,
  variables: TemplateVariables,
  { source }: RenderOptions,
  encode: (value: string) => string,
): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string, offset: number) => {
    const found = variableValue(name, variables);
    if ('value' in found) return encode(found.value);
    throw new TemplateError(source, { placeholder, line: lineOf(text, offset), problem: found.problem });
  });
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
