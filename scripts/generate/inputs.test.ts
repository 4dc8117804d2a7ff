import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differingInputs, fetchInputs, INPUT_FOLDER, readInputs, writeInputs } from './inputs.ts';
import { serverPaths } from './normalise.ts';
import type { Inputs } from './open-api.ts';
import { compareGenerated, writeGenerated } from './outputs.ts';
import { syntheticServer } from './synthetic.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'generate-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('inputs', () => {
  it('are the same after they were written and read', async () => {
    const inputs = await fetchInputs(scriptedServer());
    await writeInputs(root, inputs);
    const read = await readInputs(root);
    expect(read.version).toBe('v1.35.8');
    expect(differingInputs(read, inputs)).toEqual([]);
    expect([...read.documents.keys()].sort()).toEqual([...inputs.documents.keys()].sort());
  });

  it('remove the file of a group-version that is no longer covered', async () => {
    await mkdir(join(root, INPUT_FOLDER), { recursive: true });
    await writeFile(join(root, INPUT_FOLDER, 'extensions-v1.json'), '{}');
    await writeInputs(root, await fetchInputs(scriptedServer()));
    expect((await readInputs(root)).documents.has('extensions-v1')).toBe(false);
  });

  it('differ by path and definition', async () => {
    const inputs = await fetchInputs(scriptedServer());
    const core = inputs.documents.get('core-v1');
    if (core === undefined) throw new Error('the scripted server has no core/v1');
    const { 'io.k8s.api.core.v1.Line': _, ...schemas } = core.schemas;
    const changed: Inputs = {
      version: 'v1.36.0',
      documents: new Map(inputs.documents).set('core-v1', {
        info: 'Kubernetes 1.36',
        paths: { ...core.paths, '/api/v1/knots': {} },
        schemas: { ...schemas, 'io.k8s.api.core.v1.New': {} },
      }),
    };
    expect(differingInputs(inputs, changed)).toEqual([
      'core-v1: Kubernetes 1.35 is now Kubernetes 1.36',
      'core-v1: /api/v1/knots',
      'core-v1: io.k8s.api.core.v1.Line',
      'core-v1: io.k8s.api.core.v1.New',
    ]);
  });
});

describe('generated files', () => {
  it('are up to date after they were written, and do not change when written again', async () => {
    await writeInputs(root, await fetchInputs(scriptedServer()));
    expect((await writeGenerated(root)).length).toBeGreaterThan(0);
    expect(await compareGenerated(root)).toEqual([]);
    expect(await writeGenerated(root)).toEqual([]);
  });

  it('are reported one by one when they do not match the inputs', async () => {
    await writeInputs(root, await fetchInputs(scriptedServer()));
    await writeGenerated(root);
    const folder = join(root, 'packages/kubernetes/src/generated');
    await writeFile(join(folder, 'core-v1.ts'), 'edited by hand');
    await writeFile(join(folder, 'extensions-v1.ts'), '');
    await rm(join(root, 'packages/kubernetes/src/schemas/generated/modules.ts'));
    const differences = await compareGenerated(root);
    expect(differences).toHaveLength(3);
    expect(differences).toContainEqual({ file: 'packages/kubernetes/src/generated/core-v1.ts', problem: 'differs' });
    expect(differences).toContainEqual({
      file: 'packages/kubernetes/src/generated/extensions-v1.ts',
      problem: 'left over',
    });
    expect(differences).toContainEqual({
      file: 'packages/kubernetes/src/schemas/generated/modules.ts',
      problem: 'missing',
    });
    await writeGenerated(root);
    expect(await compareGenerated(root)).toEqual([]);
  });

  it('include the pages of kinds, and not those of removed operators', async () => {
    await writeInputs(root, await fetchInputs(scriptedServer()));
    const file = 'docs/operators/demo/reference.md';
    await writeGenerated(root, new Map([[file, '# Demo\n']]));
    expect(await compareGenerated(root, new Map([[file, '# Demo, changed\n']]))).toEqual([
      { file, problem: 'differs' },
    ]);
    expect(await writeGenerated(root)).toEqual([{ file, problem: 'left over' }]);
    expect(await compareGenerated(root)).toEqual([]);
  });
});

/** scriptedServer returns the synthetic documents, and empty ones for the other group-versions. */
function scriptedServer(): (path: string) => Promise<string> {
  const server = syntheticServer();
  const answers = new Map([['/version', '{"gitVersion":"v1.35.8"}']]);
  for (const [module, path] of serverPaths()) {
    const empty = { info: { title: 'Kubernetes', version: '1.35' }, paths: {} };
    answers.set(path, JSON.stringify(server.get(module) ?? empty));
  }
  return async (path) => {
    const answer = answers.get(path);
    if (answer === undefined) throw new Error(`404 ${path}`);
    return answer;
  };
}
