type Engine = Pick<typeof import('./custom-resources.ts'), 'customResources'> &
  Pick<typeof import('./definition-problems.ts'), 'definitionProblems'> &
  Pick<typeof import('./format-warnings.ts'), 'formatWarnings'>;

let engine: Engine | undefined;

/**
 * loadSchemaEngine loads the code that validates definitions and serves their objects. Its patterns and rules are most
 * of what a server would have to load before it starts, and many servers never receive a definition.
 */
export async function loadSchemaEngine(): Promise<void> {
  if (engine) return;
  const [{ customResources }, { definitionProblems }, { formatWarnings }] = await Promise.all([
    import('./custom-resources.ts'),
    import('./definition-problems.ts'),
    import('./format-warnings.ts'),
  ]);
  engine = { customResources, definitionProblems, formatWarnings };
}

/**
 * schemaEngine returns the loaded engine. Every definition is validated before it is stored, so the engine is loaded
 * whenever a definition exists.
 */
export function schemaEngine(): Engine {
  if (!engine) throw new TypeError('the schema engine is not loaded');
  return engine;
}
