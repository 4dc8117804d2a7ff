import type { FieldProblem } from '@bowline/machinery';
import { compileReplacement } from '@bowline/machinery/schema';
import type { Transform } from '../api/config-map-sync.ts';
import { keyProblem } from '../content/content-key.ts';
import { recentTemplate } from './recent-templates.ts';

/** transformProblems is what is wrong with transforms whatever the source holds, and that their schema cannot say. */
export function transformProblems(transforms: readonly Transform[]): readonly FieldProblem[] {
  return transforms.flatMap(({ rename, set, replace, template }, index) => {
    const at = (member: string): string => `spec.transforms[${index}].${member}`;
    return [
      ...(rename ? badKey(at('rename.to'), rename.to) : []),
      ...(set ? badKey(at('set.key'), set.key) : []),
      ...(template ? badKey(at('template.key'), template.key) : []),
      ...(replace ? thrown(at('replace'), () => compileReplacement(replace.pattern, replace.replacement)) : []),
      ...(template ? thrown(at('template.template'), () => recentTemplate(template.template)) : []),
    ];
  });
}

function badKey(field: string, key: string): readonly FieldProblem[] {
  const problem = keyProblem(key);
  return problem
    ? [{ field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(key)}: ${problem}` }]
    : [];
}

function thrown(field: string, compile: () => unknown): readonly FieldProblem[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [{ field, reason: 'FieldValueInvalid', message: `Invalid value: ${error.message}` }];
  }
}
