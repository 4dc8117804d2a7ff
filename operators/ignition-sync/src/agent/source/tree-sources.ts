import { templateFailed } from '../../engine/transforms/transform.ts';
import type { TreeSettings } from '../../engine/tree/desired-tree.ts';
import { checkSource } from '../../engine/tree/safe-path.ts';
import { renderTemplate, TemplateError } from '../../templates/render-template.ts';

/** treeSources returns the paths of the repository that a tree is made of; '' is the whole repository. */
export function treeSources({ mappings, servicePath, variables = {} }: TreeSettings): string[] {
  const paths = [...(servicePath === undefined ? [] : [servicePath]), ...mappings.map(({ source }) => source)];
  const sources = paths.map((path) => {
    try {
      return checkSource(renderTemplate(path, variables, { source: path }));
    } catch (error) {
      throw error instanceof TemplateError ? templateFailed(path, error) : error;
    }
  });
  // A folder contains its folders: git would list them twice.
  const unique = [...new Set(sources)];
  return unique.filter(
    (path) => !unique.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`))),
  );
}
