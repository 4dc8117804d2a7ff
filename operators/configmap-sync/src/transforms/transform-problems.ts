import { contentKeyProblem, type FieldProblem } from '@bowline/machinery';
import { compileReplacement } from '@bowline/machinery/schema';
import { cachedTemplate, parseTemplate } from '@bowline/machinery/template';
import type { Transform } from '../api/config-map-sync.ts';

// Compiling blocks the process, and a spec may have 64 transforms: these limits bound it to about half a second.
const MAX_EXPRESSION_CHARACTERS = 16_384;
const MAX_INSTRUCTIONS = 10_000;

/**
 * transformProblems returns the problems of transforms that do not depend on the source and that their schema cannot
 * express.
 */
export function transformProblems(transforms: readonly Transform[]): readonly FieldProblem[] {
  const compiled: Compiled = { characters: 0, instructions: 0 };
  return transforms.flatMap((transform, index) =>
    problemsOf(transform, compiled).map(({ field, message }) => ({
      field: `spec.transforms[${index}].${field}`,
      reason: 'FieldValueInvalid' as const,
      message: `Invalid value: ${message}`,
    })),
  );
}

type Problem = Pick<FieldProblem, 'field' | 'message'>;

/** Compiled counts the cost of compiling so far: characters of expressions, and instructions of patterns. */
interface Compiled {
  characters: number;
  instructions: number;
}

function checkComplexity({ instructions }: Compiled): void {
  if (instructions > MAX_INSTRUCTIONS)
    throw new Error('the patterns of all transforms together are too complex; simplify or remove some');
}

function problemsOf({ rename, set, replace, template }: Transform, compiled: Compiled): readonly Problem[] {
  return [
    ...(rename ? keyProblems('rename.to', rename.to) : []),
    ...(set ? keyProblems('set.key', set.key) : []),
    ...(template ? keyProblems('template.key', template.key) : []),
    ...(replace
      ? compileProblems('replace', () => {
          checkComplexity(compiled);
          compiled.instructions += compileReplacement(replace.pattern, replace.replacement).instructions;
        })
      : []),
    ...(template
      ? compileProblems('template.template', () => {
          for (const hole of parseTemplate(template.template).placeholders) compiled.characters += hole.length;
          if (compiled.characters > MAX_EXPRESSION_CHARACTERS) {
            throw new Error(
              `the expressions of all templates together exceed ${MAX_EXPRESSION_CHARACTERS} characters; shorten or remove some`,
            );
          }
          checkComplexity(compiled);
          compiled.instructions += cachedTemplate(template.template).patternSize;
        })
      : []),
  ];
}

function keyProblems(field: string, key: string): readonly Problem[] {
  const problem = contentKeyProblem(key);
  return problem ? [{ field, message: `${JSON.stringify(key)}: ${problem}` }] : [];
}

function compileProblems(field: string, compile: () => void): readonly Problem[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [{ field, message: error.message }];
  }
}
