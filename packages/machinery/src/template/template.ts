import { compileExpression, type Expression } from '../cel/compile-expression.ts';
import type { StepBudget } from '../cel/environment.ts';
import { memoizeByText } from '../collections/memoize-by-text.ts';
import { BowlineError } from '../errors/bowline-error.ts';

/** Template is a compiled template. */
export interface Template {
  /**
   * render evaluates the placeholders. It throws `BOWLINE_CEL_EVALUATION`, for instance for a missing key, or
   * `BOWLINE_CEL_BUDGET`. Templates that are rendered with the same budget share its steps.
   */
  render(data: Readonly<Record<string, string>>, budget?: StepBudget): string;
  /** The number of instructions of the patterns in all placeholders together. */
  readonly patternSize: number;
}

/**
 * The maximum number of steps of all placeholders together: enough to build a whole ConfigMap or Secret, and well under
 * a second.
 */
const MAX_STEPS = 500_000;

/** The maximum number of instructions of all patterns together: compiling this many takes a tenth of a second. */
const MAX_PATTERN_SIZE = 20_000;

/** The maximum number of placeholders in a template: they are evaluated as one list, which may have this many items. */
const MAX_PLACEHOLDERS = 1_000;

const VARIABLES = { data: 'map<string, string>' };

/**
 * compileTemplate compiles text with `{{ CEL }}` placeholders over `data`. Their results are converted to text like
 * CEL's `string()`. It throws `BOWLINE_TEMPLATE_INVALID` or `BOWLINE_CEL_INVALID`.
 *
 * @example
 * compileTemplate('host={{ data.host }}').render({ host: 'db' }); // 'host=db'
 */
export function compileTemplate(template: string): Template {
  const { texts, placeholders } = parseTemplate(template);
  if (placeholders.length === 0) return { render: () => template, patternSize: 0 };
  const limits = { variables: VARIABLES, maxSteps: MAX_STEPS, maxPatternSize: MAX_PATTERN_SIZE };
  for (const placeholder of placeholders) {
    // Compile each placeholder separately first: an error then refers to what its author wrote, and no placeholder can
    // close the list that it becomes a part of.
    compileExpression(placeholder.trim(), limits);
    compileExpression(asText(placeholder), limits);
  }
  const combined = compileExpression(`[${placeholders.map(asText).join(', ')}]`, limits);
  return {
    patternSize: combined.patternSize,
    render(data, budget) {
      const values = evaluated(combined, data, budget);
      return texts.map((text, index) => `${text}${values[index] ?? ''}`).join('');
    },
  };
}

function evaluated(
  placeholders: Expression,
  data: Readonly<Record<string, string>>,
  budget: StepBudget | undefined,
): readonly string[] {
  try {
    return placeholders.evaluate({ data }, budget) as readonly string[];
  } catch (error) {
    if (!(error instanceof BowlineError) || !(error.cause instanceof Error)) throw error;
    // The evaluated expression is not what the author wrote; the cause describes the problem with the values.
    throw new BowlineError(
      'BOWLINE_CEL_EVALUATION',
      `cannot evaluate a placeholder of the template: ${error.cause.message}`,
      {
        cause: error.cause,
      },
    );
  }
}

/** The line break ends a comment at the end of a placeholder. */
function asText(placeholder: string): string {
  return `string(${placeholder}\n)`;
}

/** TemplateParts is a parsed template. */
export interface TemplateParts {
  /** One more than `placeholders`: the text before each placeholder, and after the last. */
  readonly texts: readonly string[];
  readonly placeholders: readonly string[];
}

/** parseTemplate finds the placeholders in a template, or throws `BOWLINE_TEMPLATE_INVALID`. */
export function parseTemplate(template: string): TemplateParts {
  const texts: string[] = [];
  const placeholders: string[] = [];
  let position = 0;
  for (;;) {
    const open = template.indexOf('{{', position);
    texts.push(template.slice(position, open < 0 ? undefined : open));
    if (open < 0) return { texts, placeholders };
    const close = endOfPlaceholder(template, open + 2);
    if (close === undefined) throw invalid(template, open, 'the placeholder is not closed; end it with }}');
    const placeholder = template.slice(open + 2, close);
    if (placeholder.trim() === '')
      throw invalid(template, open, 'the placeholder is empty; write an expression, as in {{ data.key }}');
    placeholders.push(placeholder);
    if (placeholders.length > MAX_PLACEHOLDERS)
      throw invalid(template, open, `there are more than ${MAX_PLACEHOLDERS} placeholders`);
    position = close + 2;
  }
}

/** The tokens inside a placeholder: strings, in which braces have no meaning, comments, and braces, which can nest. */
const TOKEN = /(?<quote>'''|"""|'|")|\/\/(?:(?!\}\})[^\n])*|(?<open>\{)|(?<close>\})/g;

function endOfPlaceholder(template: string, start: number): number | undefined {
  TOKEN.lastIndex = start;
  let depth = 0;
  for (let match = TOKEN.exec(template); match !== null; match = TOKEN.exec(template)) {
    const { quote, open, close } = match.groups ?? {};
    if (quote !== undefined) {
      const end = endOfString(template, TOKEN.lastIndex, quote);
      if (end === undefined) return undefined;
      TOKEN.lastIndex = end;
    } else if (open !== undefined) depth++;
    else if (close !== undefined && depth > 0) depth--;
    else if (close !== undefined && template[match.index + 1] === '}') return match.index;
  }
  return undefined;
}

function endOfString(template: string, start: number, quote: string): number | undefined {
  for (let position = start; position < template.length; position++) {
    if (template.startsWith(quote, position)) return position + quote.length;
    if (template[position] === '\\') position++;
  }
  return undefined;
}

function invalid(template: string, position: number, problem: string): BowlineError {
  const line = template.slice(0, position).split('\n').length;
  return new BowlineError('BOWLINE_TEMPLATE_INVALID', `the template is not valid at line ${line}: ${problem}`);
}

// A template may have up to 256 KiB, and its compiled form is several times as large.
const MAX_CACHED_CHARACTERS = 1_048_576;

/** cachedTemplate is `compileTemplate` with a cache: every reconcile of an object needs the same templates. */
export const cachedTemplate = memoizeByText(compileTemplate, MAX_CACHED_CHARACTERS);
