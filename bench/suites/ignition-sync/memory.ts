import { type Measure, measured } from '../../result.ts';
import { treeMemoryMb } from '../../support/process-usage.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { openGateway } from './gateway.ts';
import { createPlant, type PlantRepository } from './plant-repository.ts';
import { AGENT, type IgnitionScene, plantOf } from './scene.ts';

const sampleMs = 10;

interface Peaks {
  readonly agent: number[];
  readonly tree: number[];
}

/** memory measures the peak memory of a first sync, and how it grows with the repository. */
export async function memory(scene: IgnitionScene): Promise<readonly Measure[]> {
  const {
    memoryRounds: rounds,
    repository,
    largeRepository,
    repository: { megabytes },
  } = scene.plan;
  scene.log(`creating a repository of ${largeRepository.files} files, ${largeRepository.megabytes} MB`);
  const large = await createPlant(scene.git, 'large.git', largeRepository);
  const sizes = [
    { id: 'small', megabytes, plant: plantOf(scene), peaks: { agent: [], tree: [] } as Peaks },
    { id: 'large', megabytes: largeRepository.megabytes, plant: large, peaks: { agent: [], tree: [] } as Peaks },
  ];
  for (let round = 0; round < rounds; round += 1) {
    for (const { megabytes: size, plant, peaks } of sizes) {
      scene.log(`memory of a first sync, ${size} MB, round ${round + 1} of ${rounds}`);
      const { agent, tree } = await peakOf(scene, plant);
      peaks.agent.push(agent);
      peaks.tree.push(tree);
    }
  }
  const measure = (name: keyof Peaks, title: string, limit: number): Measure =>
    judgedMeasure(
      {
        id: `agent-memory-${name}`,
        title,
        unit: 'MB',
        subjects: sizes.map((each) => measured(each.id, `${AGENT}, ${each.megabytes} MB`, each.peaks[name])),
      },
      [
        { id: `agent-memory-${name}`, subject: 'small', bound: 'at most', limit },
        { id: `agent-memory-${name}-growth`, subject: 'large', against: 'small', bound: 'at most', limit: 1.1 },
      ],
    );
  const files = repository.files.toLocaleString('en-US');
  return [
    measure('agent', `peak memory of the agent, first sync of ${files} files`, 100),
    measure('tree', `peak memory of the agent and its git processes, first sync of ${files} files`, 200),
  ];
}

/** The peak of the agent is the kernel's; that of all processes together is the largest of many samples. */
async function peakOf(
  scene: IgnitionScene,
  { url, main }: PlantRepository,
): Promise<{ readonly agent: number; readonly tree: number }> {
  await using gateway = await openGateway(scene, { repo: url });
  const hash = await gateway.publish(main);
  await using agent = await gateway.start();
  let tree = 0;
  const timer = setInterval(() => {
    tree = Math.max(tree, treeMemoryMb(agent.pid));
  }, sampleMs);
  try {
    await gateway.reports.until(({ appliedHash }) => appliedHash === hash, agent);
  } finally {
    clearInterval(timer);
  }
  const { peakMb } = agent.memory();
  return { agent: peakMb, tree: Math.max(tree, peakMb) };
}
