import { expect, test } from 'vitest';
import { dependencyDirections, directionProblem, importsOf } from './dependency-directions.ts';

test.each([
  ['packages/machinery/src/a.ts', '@bowline/runtime'],
  ['packages/kubernetes/src/a.ts', '@bowline/machinery'],
  ['packages/runtime/src/a.ts', '@bowline/control-plane'],
  ['packages/control-plane/src/server/a.ts', '@bowline/runtime'],
  ['packages/control-plane/src/server/a.ts', '../node-agent/agent.ts'],
  ['packages/runtime/src/cache/a.ts', '../../../machinery/src/index.ts'],
  ['operators/jasm/src/a.ts', '@bowline/control-plane/testing'],
  ['operators/jasm/src/a.ts', '../../ztwim/src/index.ts'],
  ['operators/jasm/src/a.ts', '@bowline/ztwim'],
])('rejects an import in %s of %s', (file, specifier) => {
  expect(directionProblem(file, specifier)).toContain(file);
});

test.each([
  ['packages/runtime/src/a.ts', '@bowline/machinery'],
  ['packages/runtime/src/a.cluster.test.ts', '@bowline/control-plane/testing'],
  ['packages/control-plane/src/server/a.cluster.test.ts', '../testing/cluster.ts'],
  ['operators/jasm/src/a.test-support.ts', '@bowline/control-plane/testing'],
  ['packages/runtime/src/cache/a.ts', '../client/client.ts'],
  ['packages/control-plane/src/node-agent/a.ts', '@bowline/runtime'],
  ['apps/bowline/src/a.ts', '@bowline/control-plane'],
  ['operators/jasm/src/a.ts', 'node:fs'],
])('accepts an import in %s of %s', (file, specifier) => {
  expect(directionProblem(file, specifier)).toBeUndefined();
});

test('finds static, re-exported, side-effect and dynamic imports', () => {
  const source = `import { a } from 'a';\nimport type { b } from "b";\nexport * from 'c';\nimport 'd';\nawait import('e');`;
  expect(importsOf(source)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('the repository has no forbidden imports', () => {
  expect(dependencyDirections()).toEqual([]);
});
