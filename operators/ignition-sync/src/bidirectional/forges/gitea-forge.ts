import { isObject } from '@bowline/machinery';
import { callForge, type Forge, type ForgeCall, type ForgeOptions, hostOf, listIn, pullRequestIn } from './forge.ts';

const FIELDS = { number: 'number', url: 'html_url' };
const PAGE = 50;
/** Gitea cannot filter by branch, so the pages of open pull requests are read. */
const MAX_PAGES = 20;

/** giteaForge opens pull requests on Gitea and Forgejo. */
export function giteaForge(options: ForgeOptions): Forge {
  const { project, token } = options;
  const repository = `/repos/${project.split('/').map(encodeURIComponent).join('/')}`;
  const headers = { authorization: `token ${token}` };
  const call = (given: Omit<ForgeCall, 'headers'>): Promise<unknown> => callForge(options, { headers, ...given });
  const page = async (path: string, number: number, signal?: AbortSignal): Promise<readonly unknown[]> =>
    listIn(await call({ method: 'GET', path: `${path}limit=${PAGE}&page=${number}`, signal }), hostOf(options));
  const find = async (
    path: string,
    isWanted: (item: unknown) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    for (let number = 1; number <= MAX_PAGES; number++) {
      const items = await page(path, number, signal);
      found.push(...items.filter(isWanted));
      if (items.length < PAGE) break;
    }
    return found;
  };
  return {
    async findOpen(branch, base, signal) {
      const isWanted = (item: unknown): boolean => refIn(item, 'head') === branch && refIn(item, 'base') === base;
      const [found] = await find(`${repository}/pulls?state=open&`, isWanted, signal);
      return found === undefined ? undefined : pullRequestIn(found, FIELDS, hostOf(options));
    },
    async open({ branch, base, title, body, labels }, signal) {
      // Gitea takes the ids of labels, and does not create any: those that do not exist are left out.
      const isWanted = (item: unknown): boolean => isObject(item) && labels.includes(String(item.name));
      const known = labels.length === 0 ? [] : await find(`${repository}/labels?`, isWanted, signal);
      const ids = known.flatMap((item) => (isObject(item) && typeof item.id === 'number' ? [item.id] : []));
      const sent = { head: branch, base, title, body, labels: ids };
      const opened = await call({ method: 'POST', path: `${repository}/pulls`, body: sent, signal });
      return pullRequestIn(opened, FIELDS, hostOf(options));
    },
  };
}

function refIn(item: unknown, side: 'head' | 'base'): unknown {
  const value = isObject(item) ? item[side] : undefined;
  return isObject(value) ? value.ref : undefined;
}
