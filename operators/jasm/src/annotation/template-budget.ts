import { BowlineError } from '@bowline/machinery';
import { cachedTemplate, parseTemplate } from '@bowline/machinery/template';
import type { EntryProblem } from './entry-rules.ts';

// Compiling blocks the process. These limits bound the cost of one annotation to a few tenths of a second.
const MAX_HOLES = 200;
const MAX_EXPRESSION_CHARACTERS = 8_192;
const MAX_PATTERN_SIZE = 20_000;

/** TemplateBudget compiles the templates of one annotation, within a limit for all its entries together. */
export class TemplateBudget {
  #holes = 0;
  #characters = 0;
  #patternSize = 0;

  /** problems returns what is wrong with the templates of one entry. */
  problems(template: Readonly<Record<string, string>> | undefined): readonly EntryProblem[] {
    return Object.entries(template ?? {}).flatMap(([key, text]) => {
      const problem = this.#problemOf(text);
      return problem === undefined ? [] : [{ field: `template.${key}`, message: `Invalid value: ${problem}` }];
    });
  }

  #problemOf(text: string): string | undefined {
    try {
      const { placeholders } = parseTemplate(text);
      this.#holes += placeholders.length;
      for (const hole of placeholders) this.#characters += hole.length;
      if (this.#holes > MAX_HOLES)
        return `the templates of the annotation have more than ${MAX_HOLES} expressions in total; use fewer`;
      if (this.#characters > MAX_EXPRESSION_CHARACTERS)
        return `the expressions of all templates have more than ${MAX_EXPRESSION_CHARACTERS} characters in total; shorten them`;
      if (this.#patternSize > MAX_PATTERN_SIZE)
        return 'the regular expressions of all templates are too complex in total; simplify them';
      this.#patternSize += cachedTemplate(text).patternSize;
      return undefined;
    } catch (error) {
      if (!(error instanceof BowlineError)) throw error;
      return error.message;
    }
  }
}
