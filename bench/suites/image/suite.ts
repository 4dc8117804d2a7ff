import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImage } from '../../../scripts/image/build-image.ts';
import { machinePlatform, TARGETS, version } from '../../../scripts/image/image-options.ts';
import { readPackageLock } from '../../../scripts/image/package-lock.ts';
import { describeResult } from '../../render.ts';
import { judge, type Measure, measured, type SubjectResult } from '../../result.ts';
import type { BenchSuite } from '../../suite.ts';
import { currentLoad, describeMachine } from '../../support/machine.ts';

const MEGABYTE = 1e6;
/** What a node pulls when it has no image of Bowline. */
const MAX_IMAGE_MB = 75;
/** What a node pulls when it has the image of the previous release. */
const MAX_UPGRADE_MB = 3;

/** suite measures the images: what a node has to pull, and how long a build takes. */
export const suite: BenchSuite = {
  name: 'image',
  keeps: (flags) => flags.length === 0,
  describe: describeResult,

  async run({ flags, log }) {
    if (flags.length > 0) throw new Error(`unknown flag ${flags[0]}; this suite has none`);
    const loadBefore = currentLoad();
    const folder = await mkdtemp(join(tmpdir(), 'bowline-bench-image-'));
    const images: SubjectResult[] = [];
    const layers: SubjectResult[] = [];
    const times: SubjectResult[] = [];
    try {
      for (const target of TARGETS) {
        const options = { target, platform: machinePlatform(), name: `localhost/bowline:${version()}` };
        const build = () => buildImage({ ...options, output: join(folder, `${target}.tar`) }, log);
        // Fills the cache.
        const image = await build();
        const start = performance.now();
        await build();
        times.push(measured(target, target, [performance.now() - start]));
        images.push(measured(target, target, [image.size / MEGABYTE]));
        for (const { name, size } of target === 'pkcs11' ? image.layers : []) {
          layers.push(measured(name, name, [size / MEGABYTE]));
        }
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const measures: readonly Measure[] = [
      {
        id: 'image',
        title: 'compressed size of an image',
        unit: 'MB',
        subjects: images,
        targets: [judge({ id: 'size', subject: 'manager', bound: 'at most', limit: MAX_IMAGE_MB }, images)],
      },
      {
        id: 'layer',
        title: 'compressed size of a layer',
        unit: 'MB',
        subjects: layers,
        targets: [judge({ id: 'upgrade', subject: 'bowline', bound: 'at most', limit: MAX_UPGRADE_MB }, layers)],
      },
      { id: 'build', title: 'npm run image, with cached layers', unit: 'ms', subjects: times, targets: [] },
    ];
    return {
      format: 1,
      suite: 'image',
      title: 'Images',
      date: new Date().toISOString(),
      command: 'npm run bench -- image',
      machine: describeMachine({ 'node of the image': readPackageLock().node.version }, loadBefore),
      notes: [
        `The images of ${machinePlatform()}. MB are millions of bytes. A node that has the image of the previous release pulls only the layer bowline, unless Debian's packages or Node were updated.`,
      ],
      measures,
    };
  },
};
