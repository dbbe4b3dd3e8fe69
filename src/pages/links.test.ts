import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../../test/receiver.ts';
import { onSqlite } from '../../test/service.ts';

onSqlite('links to the console', (start) => {
  for (const base_url of [undefined, 'https://ops.example.com/muster']) {
    test(`are in items, lists, events and webhooks, at ${base_url ?? 'the address listened on'}`, async (t) => {
      const service = await start(t, {
        environment: {
          MUSTER_WEBHOOK_ALLOW: '127.0.0.1',
          ...(base_url !== undefined && { MUSTER_BASE_URL: base_url }),
        },
      });
      const { make, get, call, origin } = service;
      const base = base_url ?? origin;
      const key = await service.key();
      const receiver = await startReceiver(t);
      const hook = await make('/v1/webhooks', key, { url: receiver.url, types: ['*'] });
      const person = await make('/v1/personnel', key, { name: 'Ada' });
      const group = await make('/v1/groups', key, { name: 'Ops' });
      await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
      for (const list of ['risks', 'issues', 'tasks'])
        await make(`/v1/projects/APOLLO/${list}`, key, { title: 'One' });

      const links = {
        [`/v1/personnel/${person.user_id}`]: `/personnel/${person.user_id}`,
        [`/v1/groups/${group.id}`]: `/groups/${group.id}`,
        '/v1/projects/APOLLO': '/projects/APOLLO',
        '/v1/risks/APOLLO-R1': '/risks/APOLLO-R1',
        '/v1/projects/APOLLO/issues/APOLLO-I1': '/issues/APOLLO-I1',
        '/v1/tasks/APOLLO-T1': '/tasks/APOLLO-T1',
      };
      for (const [path, link] of Object.entries(links)) {
        assert.equal((await get(path, key)).body.web_url, base + link, path);
        // The console has a page there.
        assert.equal((await get(link, undefined, { accept: 'text/html' })).status, 200, link);
      }
      for (const [path, link] of Object.entries({
        '/v1/personnel': links[`/v1/personnel/${person.user_id}`],
        '/v1/groups?include=members': links[`/v1/groups/${group.id}`],
        '/v1/projects': '/projects/APOLLO',
        '/v1/risks?limit=5': '/risks/APOLLO-R1',
        '/v1/issues/all': '/issues/APOLLO-I1',
        '/v1/tasks': '/tasks/APOLLO-T1',
      })) {
        assert.equal((await get(path, key)).body.data[0].web_url, base + link, path);
      }
      const { today } = service.app.clock();
      const [past] = (await get(`/v1/risks?as_of=${today}`, key)).body.data;
      assert.equal(past.web_url, `${base}/risks/APOLLO-R1`);
      assert.ok((await get('/v1/risks?format=csv', key)).text.includes(`${base}/risks/APOLLO-R1`));

      const readOnly = await call('PATCH', '/v1/projects/APOLLO/risks/APOLLO-R1', key, { web_url: 'x' });
      assert.equal(readOnly.status, 422);

      const events = (await get('/v1/events', key)).body.data;
      const linkOf = Object.fromEntries(
        events.map(({ type, subject }: { type: string; subject: { web_url: string | null } }) => [
          type,
          subject.web_url,
        ]),
      );
      assert.deepEqual(linkOf, {
        'key.created': null,
        'webhook.created': `${base}/webhooks/${hook.id}`,
        'person.created': `${base}/personnel/${person.user_id}`,
        'group.created': `${base}/groups/${group.id}`,
        'project.created': `${base}/projects/APOLLO`,
        'risk.created': `${base}/risks/APOLLO-R1`,
        'issue.created': `${base}/issues/APOLLO-I1`,
        'task.created': `${base}/tasks/APOLLO-T1`,
      });
      await service.app.webhooks.drain();
      const sent = receiver.received.find(({ event }) => event.type === 'risk.created')?.event;
      assert.equal(sent.subject.web_url, `${base}/risks/APOLLO-R1`);
      assert.equal(sent.data.web_url, `${base}/risks/APOLLO-R1`);
    });
  }
});
