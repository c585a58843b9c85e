import { expect, onTestFinished, test } from 'vitest';
import { MiniLmEmbedder } from '../../src/adapters/embedding/minilm-embedder.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

interface Work {
  readonly intent: string;
  readonly code: string;
  readonly tools: readonly string[];
  /** The same in other words, with other values. */
  readonly said: readonly [string, string, string, string, string];
}

/** Ten jobs of an office, each run once. */
const JOBS: readonly Work[] = [
  {
    intent: 'summarise the notes of this week into one file',
    code: `const notes = await mcp.disk.list_notes({ week: 'this' });
await mcp.disk.write_summary({ text: notes.join(', ') });
return notes.length;`,
    tools: ['disk:list_notes', 'disk:write_summary'],
    said: [
      'make one summary out of all my notes',
      'summarise the notes of last month into a file',
      'write a summary of what I noted this week',
      'put my notes together in one short file',
      'condense the weekly notes into a single summary file',
    ],
  },
  {
    intent: 'find the customer Ada and send her the unpaid invoice',
    code: `const customer = await mcp.crm.find_customer({ name: 'Ada' });
return [await mcp.crm.send_invoice({ customer: customer.id })].flat();`,
    tools: ['crm:find_customer', 'crm:send_invoice'],
    said: [
      'send Bob the invoice he has not paid yet',
      'look up the customer Carol and mail her the open invoice',
      'the customer Dan still owes us money: send him his invoice',
      'email the unpaid invoice to the customer Eve',
      'get the invoice out to our customer Frank',
    ],
  },
  {
    intent: 'check the weather in Oslo and warn the team if it rains',
    code: `const now = await mcp.weather.get_forecast({ city: 'Oslo' });
if (now.rain) await mcp.chat.warn_team({ text: 'rain' });
return now;`,
    tools: ['weather:get_forecast', 'chat:warn_team'],
    said: [
      'look at the forecast for Bergen and tell the team when rain comes',
      'will it rain in Paris? If so warn my team',
      'warn the team about rain in Hamburg after checking the weather',
      'see what the weather in Rome is like and alert the team if it is wet',
      'check the forecast of Madrid and warn everybody in the team about rain',
    ],
  },
  {
    intent: 'book a meeting room for Monday and invite the engineers',
    code: `const room = await mcp.calendar.book_room({ day: 'Monday' });
return [await mcp.calendar.invite_people({ room: room.id, group: 'engineers' })].flat();`,
    tools: ['calendar:book_room', 'calendar:invite_people'],
    said: [
      'reserve a room on Tuesday and ask the engineers to come',
      'we need a meeting room on Friday: book it and invite the designers',
      'get a meeting room for Wednesday and invite all engineers',
      'set up a meeting for the engineers on Thursday in a room of ours',
      'book us a room for next Monday and send the engineers an invitation',
    ],
  },
  {
    intent: 'read the log of the billing service and open a ticket for each error',
    code: `const lines = await mcp.ops.read_log({ service: 'billing' });
for (const line of lines) await mcp.ops.open_ticket({ title: line });
return lines.length;`,
    tools: ['ops:read_log', 'ops:open_ticket'],
    said: [
      'go through the log of the search service and file a ticket per error',
      'open tickets for all errors in the log of the mail service',
      'look for errors in the billing log and create tickets for them',
      'check the service log for errors, one ticket each',
      'turn the errors that the payment service logged into tickets',
    ],
  },
  {
    intent: 'translate the manual into French and publish it',
    code: `const text = await mcp.text.translate({ language: 'French', document: 'manual' });
return [await mcp.web.publish_page({ text })].flat();`,
    tools: ['text:translate', 'web:publish_page'],
    said: [
      'publish a German translation of the manual',
      'put the manual online in Spanish: translate it and publish the page',
      'translate our manual to Italian, then publish it on the site',
      'we need the manual in Polish on the web',
      'have the guide translated into French and published',
    ],
  },
  {
    intent: 'compare the prices of the red chair at both shops',
    code: `const [a, b] = await Promise.all([mcp.north_shop.get_price({ item: 'red chair' }), mcp.south_shop.get_price({ item: 'red chair' })]);
return Math.min(a, b);`,
    tools: ['north_shop:get_price', 'south_shop:get_price'],
    said: [
      'which of the two shops sells the blue table cheaper?',
      'compare what both shops want for the green lamp',
      'find the lower price of the red sofa at the two shops',
      'price of the white shelf in both shops, compared',
      'tell me where the red chair is cheaper, the one shop or the other',
    ],
  },
  {
    intent: 'back up the database and check that the copy can be read',
    code: `const copy = await mcp.db.back_up({ name: 'main' });
return [await mcp.db.verify_copy({ id: copy.id })].flat();`,
    tools: ['db:back_up', 'db:verify_copy'],
    said: [
      'make a backup of the database and verify it',
      'save a copy of the main database and test whether it can be restored',
      'do the database backup, then check the copy',
      'back the data base up and make sure that the copy is fine',
      'take a verified backup of our database',
    ],
  },
  {
    intent: 'find a flight to Lisbon and put it on hold',
    code: `const [flight] = await mcp.travel.search_flights({ to: 'Lisbon' });
return [await mcp.travel.hold_flight({ id: flight.id })].flat();`,
    tools: ['travel:search_flights', 'travel:hold_flight'],
    said: [
      'search for a flight to Athens and hold it for me',
      'look for flights to Dublin and reserve one without paying',
      'put a flight to Vienna on hold',
      'find me a plane to Prague and keep the seat on hold',
      'hold the best flight to Lisbon that you find',
    ],
  },
  {
    intent: 'resize the photos of the album and upload them to the gallery',
    code: `const photos = await mcp.media.resize_photos({ album: 'summer' });
return [await mcp.media.upload_photos({ photos })].flat();`,
    tools: ['media:resize_photos', 'media:upload_photos'],
    said: [
      'make the album pictures smaller and put them into the gallery',
      'upload resized photos of the winter album to the gallery',
      'shrink the photos from the album, then upload them',
      'resize my album photos for the gallery and upload all of them',
      'get the pictures of the album into the gallery at a smaller size',
    ],
  },
];

/** What has nothing to do with any of them, and what takes one of them back. */
const FOREIGN = [
  'what is the capital of Australia',
  'play some jazz in the kitchen',
  'solve this equation for x',
  'order a pizza with mushrooms',
  'how do I tie a bow tie',
  'turn off the lights in the hall',
  'tell me a joke about cats',
  'water the plants on the balcony',
  'delete the backup of the database',
  'do not send Ada the invoice',
];

async function office(): Promise<Gateway> {
  const servers: Record<string, readonly [string, string, unknown][]> = {
    disk: [
      ['list_notes', 'Lists the notes of a week', ['a', 'b']],
      ['write_summary', 'Writes a summary file', { ok: true }],
      ['delete_file', 'Deletes a file', { ok: true }],
    ],
    crm: [
      ['find_customer', 'Finds a customer by name', { id: 7 }],
      ['send_invoice', 'Sends an invoice to a customer', { sent: true }],
      ['void_invoice', 'Voids an invoice', { ok: true }],
    ],
    weather: [['get_forecast', 'The weather forecast of a city', { rain: true }]],
    chat: [
      ['warn_team', 'Warns the team', { ok: true }],
      ['post_message', 'Posts a message to a channel', { ok: true }],
    ],
    calendar: [
      ['book_room', 'Books a meeting room', { id: 3 }],
      ['invite_people', 'Invites people to a meeting', { ok: true }],
      ['cancel_meeting', 'Cancels a meeting', { ok: true }],
    ],
    ops: [
      ['read_log', 'Reads the log of a service', ['e1', 'e2']],
      ['open_ticket', 'Opens a ticket', { id: 5 }],
      ['restart_service', 'Restarts a service', { ok: true }],
    ],
    text: [['translate', 'Translates a document into another language', 'texte']],
    web: [['publish_page', 'Publishes a page on the web site', { url: 'x' }]],
    north_shop: [['get_price', 'The price of an item in the north shop', 10]],
    south_shop: [['get_price', 'The price of an item in the south shop', 12]],
    db: [
      ['back_up', 'Backs a database up', { id: 'copy-1' }],
      ['verify_copy', 'Checks whether a backup can be read', { ok: true }],
      ['drop_database', 'Deletes a database', { ok: true }],
    ],
    travel: [
      ['search_flights', 'Searches for flights', [{ id: 'F1' }]],
      ['hold_flight', 'Puts a flight on hold', { ok: true }],
      ['cancel_flight', 'Cancels a flight', { ok: true }],
    ],
    media: [
      ['resize_photos', 'Makes the photos of an album smaller', ['p']],
      ['upload_photos', 'Uploads photos to the gallery', { ok: true }],
    ],
  };
  const embedder = new MiniLmEmbedder();
  onTestFinished(() => embedder.close());
  const { gateway } = await testGateway({
    embedder,
    servers: Object.entries(servers).map(([name, tools]) => ({
      name,
      tools: tools.map(([id, description, answer]) => tool(id, () => answer, { description })),
    })),
  });
  return gateway;
}

test('[PLAN-26] after one run of ten jobs, four in five of their paraphrases get a plan with the right tools, and nothing foreign runs', async () => {
  const gateway = await office();
  for (const { code, intent } of JOBS) {
    expect(await gateway.executeCode({ code, intent }, NOBODY)).toMatchObject({ status: 'success' });
    await gateway.settled();
  }
  const wrong: string[] = [];
  for (const { said, tools } of JOBS) {
    for (const intent of said) {
      const { plan } = await gateway.suggest(intent, NOBODY);
      const planned = new Set(plan.tasks.flatMap((task) => task.tool ?? []));
      if (planned.size !== tools.length || !tools.every((id) => planned.has(id)))
        wrong.push(`${intent} -> ${[...planned].join(', ')}`);
    }
  }
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(10);
  for (const intent of FOREIGN) {
    const { suggestion, run } = await gateway.executeIntent({ intent }, NOBODY);
    expect(run, intent).toBeUndefined();
    expect(suggestion.confidence, intent).toBeLessThan(0.9);
    expect(suggestion.support, intent).toBe(0);
  }
}, 120_000);
