// Calls two webhook servers alternately like the API server: one keep-alive connection each, prepared AdmissionReviews, one
// review at a time, so that single responses are timed and not a queue.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { percentile } from '../../statistics.ts';
import { report, subjectInput, untilReleased } from '../subject.ts';

const { options } = subjectInput();
const reviews = Number(options.reviews);
const ca = readFileSync(`${String(options.folder)}/ca.crt`);
const bodies = JSON.parse(readFileSync(String(options.bodies), 'utf8')) as readonly string[];

interface Server {
  readonly name: string;
  readonly port: number;
  readonly path: string;
  readonly agent: Agent;
  readonly times: number[];
}

function serverOf(name: string): Server {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  return { name, port: Number(options[`${name}Port`]), path: String(options[`${name}Path`]), agent, times: [] };
}

function call({ port, path, agent }: Server, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: `${path}?timeout=10s`,
        method: 'POST',
        agent,
        headers: {
          accept: 'application/json, */*',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'kube-apiserver-admission',
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const ms = performance.now() - start;
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200 && text.includes('"allowed":true')) resolve(ms);
          else reject(new Error(`${path} returned ${response.statusCode}: ${text.slice(0, 200)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const servers = [serverOf('bowline'), serverOf('bare')];
for (let index = -Math.ceil(reviews / 4); index < reviews; index += 1) {
  const body = bodies[Math.abs(index) % bodies.length] ?? '';
  // Each is first every other time; the first quarter warms up V8.
  for (const server of index % 2 === 0 ? servers : servers.toReversed()) {
    const ms = await call(server, body);
    if (index >= 0) server.times.push(ms);
  }
}
report(
  Object.fromEntries(
    servers.flatMap(({ name, times }) => [
      [`${name}P50`, percentile(times, 0.5)],
      [`${name}P99`, percentile(times, 0.99)],
    ]),
  ),
);
await untilReleased();
process.exit(0);
