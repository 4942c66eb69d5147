import { defineScript } from '../script.ts';

/**
 * All windows of a key in one hash: `u<name>` slots used, `r<name>` when the window ends. By the server's clock, so that
 * all processes agree on it. Arguments of each key: the number of its windows and of those to take from, which come first, then
 * name, limit and length of each window. Returns a list for each key up to the first that rejects: the position of the window
 * that rejects or 0, then used slots and end of each window.
 */
export const windowsScript = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
local from = 1
for place = 1, #KEYS do
  local key = KEYS[place]
  local count, takes = tonumber(ARGV[from]), tonumber(ARGV[from + 1])
  local first = from + 2
  from = first + count * 3
  local answer = { 0 }
  answers[place] = answer
  if count > 0 then
    local fields = {}
    for at = first, from - 1, 3 do
      fields[#fields + 1] = 'u' .. ARGV[at]
      fields[#fields + 1] = 'r' .. ARGV[at]
    end
    local kept = redis.call('HMGET', key, unpack(fields))
    for at = 1, #fields, 2 do
      local used, reset = tonumber(kept[at] or 0), tonumber(kept[at + 1] or 0)
      local window = first + (at - 1) / 2 * 3
      if reset <= now then
        used, reset = 0, now + tonumber(ARGV[window + 2])
      end
      if at < takes * 2 and used >= tonumber(ARGV[window + 1]) and answer[1] == 0 then answer[1] = (at + 1) / 2 end
      answer[at + 1], answer[at + 2] = used, reset
    end
    if takes > 0 and answer[1] == 0 then
      local last = now
      local writes = {}
      for at = 1, takes * 2, 2 do
        answer[at + 1] = answer[at + 1] + 1
        writes[at * 2 - 1], writes[at * 2] = fields[at], answer[at + 1]
        writes[at * 2 + 1], writes[at * 2 + 2] = fields[at + 1], string.format('%.0f', answer[at + 2])
        if answer[at + 2] > last then last = answer[at + 2] end
      end
      redis.call('HSET', key, unpack(writes))
      if redis.call('PTTL', key) < last - now then
        redis.call('PEXPIREAT', key, string.format('%.0f', last))
      end
    end
  end
  if answer[1] > 0 then break end
end
return answers
`);
