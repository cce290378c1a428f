-- SPDX-License-Identifier: BSD-3-Clause
--
-- Wireshark dissector of reflit's frames, flits and transactions. The layouts
-- are those of lib/flit/rl_frame.h and lib/flit/rl_flit.h.
--
-- For each direction (interface and addresses) it remembers the epoch and the
-- next number, to find gaps, replays and duplicates. A frame whose comment
-- begins with "lost" (written by `capture`) was not received, and is ignored
-- here.
--
-- The number of a flit is not sent: the sender mixes it into the CRC. The CRC
-- is linear, so removing the CRC of the bytes leaves a word that depends on the
-- number alone, which reveals the number of an intact flit.

local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"
local codes = dofile(here .. "reflit_codes.lua")

local p = Proto("reflit", "reflit link frame")
local band, rshift, tobit = bit.band, bit.rshift, bit.tobit

local ETHERTYPE = 0x88b5
local ETHER_BYTES = 14 -- the header; offsets below do not count it
local FLIT_BYTES, CRC_OFF, FEC_OFF = 256, 242, 250
local FLITS_SHORT, FLITS_MAX = 5, 32
local TOKEN = 0xffff -- both addresses of a token
local DATA, IDLE, INIT, RETRAIN, CLOSE = 1, 2, 3, 4, 5

local types = { [DATA] = "DATA", [IDLE] = "IDLE", [INIT] = "INIT",
	[RETRAIN] = "RETRAIN", [CLOSE] = "CLOSE" }
local marks = { [0] = "none", "transmit_error", "soft_error", "poison" }
local cmds = { [0] = "SEQ", "ACK", "NAK, go back", "NAK, this one" }
local classes = { [0] = "posted request", "response", "non-posted request",
	"endpoint control" }
local flit_types = { [0] = "data", "stand-alone ACK or NAK" }

-- fields -------------------------------------------------------------------

local f = {
	type = ProtoField.uint8("reflit.type", "Type", base.DEC, types, 0x0f),
	version = ProtoField.uint8("reflit.version", "Version", base.DEC, nil,
		0xf0),
	flits = ProtoField.uint8("reflit.flits", "Flits"),
	flags = ProtoField.uint8("reflit.flags", "Flags", base.HEX),
	nak = ProtoField.bool("reflit.flags.nak",
		"NAK: resend from the acknowledged number on", 8, nil, 0x01),
	retry = ProtoField.bool("reflit.flags.retry", "Flits are a replay", 8,
		nil, 0x02),
	echo = ProtoField.bool("reflit.flags.echo", "Echo, or answer", 8, nil,
		0x04),
	ackreq = ProtoField.bool("reflit.flags.ackreq",
		"Answer at once; INIT: still trains", 8, nil, 0x08),
	spent = ProtoField.bool("reflit.flags.spent",
		"Credit fields hold spent credits", 8, nil, 0x10),
	drain = ProtoField.bool("reflit.flags.drain",
		"The link is to go down: send nothing new", 8, nil, 0x20),
	drained = ProtoField.bool("reflit.flags.drained",
		"Everything sent has arrived", 8, nil, 0x40),
	wanted = ProtoField.bool("reflit.flags.wanted",
		"Packets wait for this link only", 8, nil, 0x80),
	tx_epoch = ProtoField.uint8("reflit.tx_epoch", "Sender's epoch"),
	rx_epoch = ProtoField.uint8("reflit.rx_epoch", "Receiver's epoch"),
	seq = ProtoField.uint16("reflit.seq", "Number of the first flit"),
	ack = ProtoField.uint16("reflit.ack", "Acknowledges all before this number"),
	credit = ProtoField.uint16("reflit.credit", "Credit limit"),
	stamp = ProtoField.uint64("reflit.stamp", "Stamp, ns"),
	stamp_echo = ProtoField.uint32("reflit.stamp_echo", "Stamp echoed"),
	check = ProtoField.uint32("reflit.check", "CRC-32C of the header",
		base.HEX),
	bytes = ProtoField.uint16("reflit.bytes", "Bytes of the frame"),
	nonce = ProtoField.uint64("reflit.init.nonce", "Nonce", base.HEX),
	nonce_echo = ProtoField.uint64("reflit.init.nonce_echo", "Nonce echoed",
		base.HEX),
	incarnation = ProtoField.uint64("reflit.init.incarnation",
		"Incarnation of the process", base.HEX),
	digest = ProtoField.uint64("reflit.init.digest",
		"Digest of the configuration", base.HEX),
	init_flits = ProtoField.uint8("reflit.init.flits",
		"Most flits of a frame"),
	keyed = ProtoField.bool("reflit.init.keyed", "Frames end in a tag"),
	init_end = ProtoField.uint8("reflit.init.end",
		"End of its link that the sender is"),
	init_link = ProtoField.uint32("reflit.init.link",
		"Number of its link, from 1"),
	init_port = ProtoField.uint16("reflit.init.port",
		"Port at its device"),
	init_device = ProtoField.stringz("reflit.init.device", "Its device"),
	-- a flit: its link header and sideband
	flit = ProtoField.bytes("reflit.flit", "Flit"),
	lseq = ProtoField.uint16("reflit.flit.seq", "Number on the link"),
	vc = ProtoField.uint16("reflit.flit.vc", "VC", base.DEC, nil, 0x0007),
	sop = ProtoField.bool("reflit.flit.sop", "Start of packet", 16, nil,
		0x0008),
	eop = ProtoField.bool("reflit.flit.eop", "End of packet", 16, nil,
		0x0010),
	looped = ProtoField.bool("reflit.flit.looped",
		"From the replay buffer of a dead port", 16, nil, 0x0020),
	reflected = ProtoField.bool("reflit.flit.reflected",
		"Misrouted and sent out again", 16, nil, 0x0040),
	mark = ProtoField.uint16("reflit.flit.mark", "Mark", base.DEC, marks,
		0x0180),
	hops = ProtoField.uint16("reflit.flit.hops", "Links crossed", base.DEC,
		nil, 0xfe00),
	-- a flit: its own 256 bytes
	fsn = ProtoField.uint16("reflit.flit.fsn", "FSN", base.DEC, nil, 0x03ff),
	cmd = ProtoField.uint16("reflit.flit.cmd", "ReplayCmd", base.DEC, cmds,
		0x0c00),
	e2e_ack = ProtoField.uint32("reflit.flit.ack",
		"Acknowledges, end to end (22 bits)"),
	dst = ProtoField.uint16("reflit.txn.dst", "Destination endpoint"),
	src = ProtoField.uint16("reflit.txn.src", "Source endpoint"),
	sl = ProtoField.uint8("reflit.txn.sl", "Service level", base.DEC, nil,
		0x0f),
	cos = ProtoField.uint8("reflit.txn.cos", "Class of service", base.DEC,
		nil, 0xf0),
	class = ProtoField.uint8("reflit.txn.class", "Packet class", base.DEC,
		classes, 0x03),
	ftype = ProtoField.uint8("reflit.txn.type", "Flit type", base.DEC,
		flit_types, 0x0c),
	tsop = ProtoField.bool("reflit.txn.sop", "First flit of the packet", 8,
		nil, 0x40),
	teop = ProtoField.bool("reflit.txn.eop", "Last flit of the packet", 8,
		nil, 0x80),
	valid = ProtoField.uint8("reflit.txn.valid", "Valid data bytes"),
	tag = ProtoField.uint32("reflit.txn.tag", "Tag of the packet"),
	pos = ProtoField.uint16("reflit.txn.pos", "Position in the packet"),
	len = ProtoField.uint16("reflit.txn.len", "Flits of the packet"),
	token = ProtoField.uint32("reflit.token",
		"Token: packets after it use these tables"),
	data = ProtoField.bytes("reflit.data", "Data"),
	crc = ProtoField.uint64("reflit.flit.crc", "CRC-64 with the number in it",
		base.HEX),
	fec = ProtoField.bytes("reflit.flit.fec", "FEC check bytes"),
	number = ProtoField.uint32("reflit.flit.number",
		"Number that the CRC tells (ISN)"),
	mixing = ProtoField.string("reflit.flit.mixing", "CRC and mixing"),
	state = ProtoField.string("reflit.flit.state", "State"),
	analysis = ProtoField.string("reflit.analysis", "Analysis"),
}
for _, field in pairs(f) do
	table.insert(p.fields, field)
end

local G, S = expert.group, expert.severity

local function mishap(name, text, group, severity)
	local x = ProtoExpert.new("reflit." .. name, text, group, severity)

	table.insert(p.experts, x)
	return x
end

local e = {
	malformed = mishap("malformed", "Malformed frame", G.MALFORMED, S.ERROR),
	check = mishap("check.bad", "Header check failed", G.CHECKSUM, S.ERROR),
	lost = mishap("lost", "Lost: not received", G.SEQUENCE, S.WARN),
	gap = mishap("gap", "Gap: flits are missing before", G.SEQUENCE, S.WARN),
	replay = mishap("replay", "Replay", G.SEQUENCE, S.NOTE),
	duplicate = mishap("duplicate", "Duplicate flits", G.SEQUENCE,
		S.NOTE),
	nak = mishap("nak", "NAK: requests flits again", G.SEQUENCE, S.WARN),
	epoch = mishap("epoch", "A new epoch", G.SEQUENCE, S.NOTE),
	close = mishap("close", "The sender has declared the link dead",
		G.SEQUENCE, S.WARN),
	retrain = mishap("retrain", "Probe: are you there?", G.SEQUENCE, S.WARN),
	looped = mishap("looped", "Looped back out of a dead port", G.SEQUENCE,
		S.NOTE),
	marked = mishap("marked", "Marked as corrupt", G.CHECKSUM, S.WARN),
	corrected = mishap("fec.corrected", "Corrupt; FEC corrects it",
		G.CHECKSUM, S.NOTE),
	uncorrectable = mishap("fec.bad", "Corrupt beyond FEC correction",
		G.CHECKSUM, S.ERROR),
	crc = mishap("crc.bad", "No number explains the CRC: corrupt",
		G.CHECKSUM, S.ERROR),
	step = mishap("number.step", "The flow's number jumps", G.SEQUENCE,
		S.NOTE),
}

local AUTO = 0

p.prefs.decode = Pref.bool("Check FEC and CRC of flits, decode their numbers",
	true, "Takes most of the time")
local pref_list = { { 0, "the first that fits", AUTO } }
for i, c in ipairs(codes.choices) do
	pref_list[#pref_list + 1] = { i, c.name, i }
end
p.prefs.code = Pref.enum("CRC and mixing of numbers", AUTO,
	"endpoint.crc and endpoint.isn of the fabric file", pref_list, false)

-- directions -----------------------------------------------------------------

local dirs, notes -- [direction] = state; [frame] = result of the first pass

local get = {}
for key, name in pairs({ interface = "frame.interface_id",
	comment = "frame.comment", missed = "frame.drop_count", src = "eth.src", dst = "eth.dst" }) do
	local ok, field = pcall(Field.new, name)

	get[key] = ok and field or function() end
end

function p.init()
	dirs, notes, codes.found = {}, {}, nil
end

local function signed(a, b) -- a - b, of 16 bits
	return (a - b + 32768) % 65536 - 32768
end

local function direction()
	local key = tostring(get.interface() or "") .. tostring(get.src() or "")
		.. tostring(get.dst() or "")

	dirs[key] = dirs[key] or { flow = {} }
	return dirs[key]
end

-- tracks the direction of a frame; called once for each frame
local function analyse(h, lost)
	local d, n = direction(), {}

	n.lost = lost
	n.dir = d
	if lost or h.type == CLOSE then
		return n
	end
	if d.epoch ~= h.tx_epoch or h.type == INIT then
		n.epoch = d.epoch ~= nil and d.epoch ~= h.tx_epoch
		d.epoch, d.next, d.flow = h.tx_epoch, nil, {}
	end
	if h.type ~= DATA and h.type ~= IDLE then
		return n
	end
	local step = d.next and signed(h.seq, d.next) or 0
	local last = (h.seq + h.flits) % 65536

	if step > 0 and get.missed() == nil then
		-- the receiver drops all flits after a gap until it is filled
		n.gap = d.gap ~= d.next and step or nil
		n.new_from = h.flits
		d.gap = d.next
		return n
	end
	n.again = step < 0 and math.min(-step, h.flits) or 0
	n.new_from = n.again
	if d.next == nil or signed(last, d.next) > 0 then
		d.next = last
	end
	return n
end

-- checks the next new number of a flow on this link
local function number_step(d, key, n, bits)
	local before = d.flow[key]

	d.flow[key] = n
	if before == nil or (before == 0 and n == 0) then
		return nil
	end
	local step = (n - before) % 2 ^ bits

	if step == 1 then
		return nil
	elseif step == 0 or step >= 2 ^ (bits - 1) then
		return string.format("Number %d of the flow follows %d: a repetition",
			n, before)
	end
	return string.format("Number %d of the flow follows %d: %d took "
		.. "another path, or are lost", n, before, step - 1)
end

-- trees ------------------------------------------------------------------------

local function le16(raw, at)
	return raw:byte(at + 1) + 256 * raw:byte(at + 2)
end

-- @return a text for its state, the number or nil, the name of the code
local function decode_flit(tree, bytes, marked)
	local fixed = codes.fec(bytes)

	if fixed == nil then
		tree:add_proto_expert_info(e.uncorrectable)
		return "corrupt", nil
	end
	local n, c = codes.number_of(bytes, p.prefs.code)

	if n == nil then
		tree:add_proto_expert_info(marked and e.marked or e.crc)
		return "corrupt", nil
	end
	if fixed > 0 then
		tree:add_proto_expert_info(e.corrected, string.format(
			"Corrupt; FEC corrects %d bytes", fixed))
		return string.format("corrected, %d bytes", fixed), n, c
	end
	return "intact", n, c
end

local function add_txn(tree, tvb, at)
	local t = tree:add(tvb(at + 2, 16), "Transaction header")

	t:add_le(f.dst, tvb(at + 2, 2))
	t:add_le(f.src, tvb(at + 4, 2))
	t:add(f.sl, tvb(at + 6, 1))
	t:add(f.cos, tvb(at + 6, 1))
	t:add(f.class, tvb(at + 7, 1))
	t:add(f.ftype, tvb(at + 7, 1))
	t:add(f.tsop, tvb(at + 7, 1))
	t:add(f.teop, tvb(at + 7, 1))
	t:add(f.valid, tvb(at + 8, 1))
	t:add_le(f.tag, tvb(at + 10, 4))
	t:add_le(f.pos, tvb(at + 14, 2))
	t:add_le(f.len, tvb(at + 16, 2))
end

local function add_flit(tree, tvb, raw, at, i, h, note)
	local side_at = 54 - ETHER_BYTES + 2 * i
	local seq = (h.seq + i) % 65536
	local side = le16(raw, side_at)
	local src, dst = le16(raw, at + 4), le16(raw, at + 2)
	local t = tree:add(f.flit, tvb(at, FLIT_BYTES))
	local ack = le16(raw, at)

	-- separates packets by old and by new tables (docs/routing.md, Tokens)
	local token = src == TOKEN and dst == TOKEN

	t:set_text(string.format("Flit %d: %d to %d, tag %d, %d of %d, VC %d", seq,
		src, dst, tvb(at + 10, 4):le_uint(), le16(raw, at + 14) + 1,
		le16(raw, at + 16), side % 8))
	t:add(f.lseq, tvb(20 - ETHER_BYTES, 2), seq)
	for _, name in ipairs({ "vc", "sop", "eop", "looped", "reflected", "mark",
		"hops" }) do
		t:add_le(f[name], tvb(side_at, 2))
	end
	if band(side, 0x20) ~= 0 then
		t:add_proto_expert_info(e.looped)
	end
	if band(side, 0x180) ~= 0 then
		t:add_proto_expert_info(e.marked, "Marked: " ..
			marks[band(rshift(side, 7), 3)])
	end
	t:add_le(f.fsn, tvb(at, 2))
	t:add_le(f.cmd, tvb(at, 2))
	if band(rshift(ack, 10), 3) == 1 and band(rshift(raw:byte(at + 8), 2), 3)
	    == 0 then
		t:add(f.e2e_ack, tvb(at, 10), band(ack, 0x3ff) +
			rshift(ack, 12) * 1024 + raw:byte(at + 10) * 16384)
	end
	if token then
		t:add_le(f.token, tvb(at + 10, 4))
		t:append_text(", token of tables " .. tvb(at + 10, 4):le_uint())
	end
	add_txn(t, tvb, at)
	t:add(f.data, tvb(at + 18, 224))
	t:add_le(f.crc, tvb(at + CRC_OFF, 8))
	t:add(f.fec, tvb(at + FEC_OFF, 6))
	if not p.prefs.decode then
		return
	end
	local bytes = { raw:byte(at + 1, at + FLIT_BYTES) }
	local state, n, c = decode_flit(t, bytes, band(side, 0x180) ~= 0)

	t:add(f.state, state):set_generated()
	t:append_text(", " .. state)
	if n == nil or token then
		return
	end
	t:add(f.number, n):set_generated()
	t:add(f.mixing, (codes.found or c).name):set_generated()
	t:append_text(string.format(", number %d", n))
	if not note.steps then
		return
	end
	-- control flits have no number, and replays have old ones
	if note.steps[i] == nil then
		local control = band(rshift(bytes[8], 2), 3) ~= 0
		local key = string.format("%d %d %d", src, dst, rshift(bytes[7], 4))

		note.steps[i] = not note.lost and not control and i >= (note.new_from
			or 0) and number_step(note.dir, key, n,
			c.mix == "wide19" and 19 or 10) or false
	end
	if note.steps[i] then
		t:add_proto_expert_info(e.step, note.steps[i])
	end
end

local function add_init(tree, tvb)
	local at = 64 - ETHER_BYTES
	local t = tree:add(tvb(at, 64), "INIT")

	t:add_le(f.nonce, tvb(at, 8))
	t:add_le(f.nonce_echo, tvb(at + 8, 8))
	t:add_le(f.incarnation, tvb(at + 16, 8))
	t:add_le(f.digest, tvb(at + 24, 8))
	t:add(f.init_flits, tvb(at + 32, 1))
	t:add(f.keyed, tvb(at + 33, 1))
	t:add(f.init_end, tvb(at + 34, 1))
	t:add_le(f.init_link, tvb(at + 36, 4))
	t:add_le(f.init_port, tvb(at + 40, 2))
	t:add(f.init_device, tvb(at + 42, 22))
end

local function add_header(tree, tvb, h)
	tree:add(f.type, tvb(0, 1))
	tree:add(f.version, tvb(0, 1))
	tree:add(f.flits, tvb(1, 1))
	local flags = tree:add(f.flags, tvb(2, 1))

	for _, name in ipairs({ "nak", "retry", "echo", "ackreq", "spent",
		"drain", "drained", "wanted" }) do
		flags:add(f[name], tvb(2, 1))
	end
	tree:add(f.tx_epoch, tvb(4, 1))
	tree:add(f.rx_epoch, tvb(5, 1))
	tree:add_le(f.seq, tvb(6, 2))
	tree:add_le(f.ack, tvb(8, 2))
	for vc = 0, 7 do
		tree:add_le(f.credit, tvb(10 + 2 * vc, 2)):prepend_text(
			string.format("VC %d: ", vc))
	end
	tree:add(f.stamp, tvb(26, 6), tvb(26, 6):le_uint64() + UInt64(0,
		tvb(3, 1):uint() * 65536))
	tree:add_le(f.stamp_echo, tvb(32, 4))
	local check = tree:add_le(f.check, tvb(36, 4))

	if codes.header_check(tvb:raw(), h.header - ETHER_BYTES) ~=
	    tobit(tvb(36, 4):le_uint()) then
		check:add_proto_expert_info(e.check)
		return false
	end
	if h.flits == 0 then
		tree:add_le(f.bytes, tvb(40, 2))
	end
	return true
end

local function add_note(tree, pinfo, h, n)
	local function say(x, text, info)
		tree:add_proto_expert_info(x, text)
		tree:add(f.analysis, text):set_generated()
		pinfo.cols.info:append(" [" .. info .. "]")
	end

	if n.lost then
		say(e.lost, n.lost, "lost")
	end
	if n.epoch then
		say(e.epoch, "Epoch " .. h.tx_epoch .. " begins", "epoch")
	end
	if n.gap then
		say(e.gap, string.format("Gap: %d flits are missing before %d",
			n.gap, h.seq), "gap of " .. n.gap)
	end
	if band(h.flags, 2) ~= 0 and h.flits > 0 then
		say(e.replay, string.format("Replay of %d flits, %d of them duplicates",
			h.flits, n.again or 0), "replay")
	elseif (n.again or 0) > 0 then
		say(e.duplicate, string.format("%d duplicate flits",
			n.again), "duplicate")
	end
	if band(h.flags, 1) ~= 0 then
		say(e.nak, string.format("NAK: requests all from %d on", h.ack),
			"NAK")
	end
	if h.type == CLOSE then
		say(e.close, "Epoch " .. h.tx_epoch .. " is declared dead", "dead")
	elseif h.type == RETRAIN then
		say(e.retrain, band(h.flags, 4) ~= 0 and "Probe: are you there?" or
			"Answer to a probe", "retrain")
	end
end

-- @return the header, or nil and the reason
local function read_header(raw)
	if #raw < 64 - ETHER_BYTES then
		return nil, "shorter than a header"
	end
	local h = { type = band(raw:byte(1), 15), version = rshift(raw:byte(1), 4),
		flits = raw:byte(2), flags = raw:byte(3), tx_epoch = raw:byte(5),
		seq = le16(raw, 6), ack = le16(raw, 8) }

	if h.version ~= 3 then
		return nil, "version " .. h.version .. " is not 3"
	elseif types[h.type] == nil then
		return nil, "unknown type " .. h.type
	elseif h.flits > FLITS_MAX then
		return nil, h.flits .. " flits are too many"
	end
	h.header = (h.flits > FLITS_SHORT or h.type == INIT) and 128 or 64
	if #raw < h.header - ETHER_BYTES + h.flits * FLIT_BYTES then
		return nil, "shorter than its flits"
	end
	return h
end

function p.dissector(tvb, pinfo, root)
	local raw = tvb:raw()
	local h, why = read_header(raw)
	local tree = root:add(p, tvb())

	pinfo.cols.protocol = "REFLIT"
	if h == nil then
		tree:add_proto_expert_info(e.malformed, "Malformed: " .. why)
		pinfo.cols.info = "malformed: " .. why
		return
	end
	local text = string.format("%s epoch %d seq %d ack %d%s",
		types[h.type], h.tx_epoch, h.seq, h.ack,
		h.flits > 0 and ", " .. h.flits .. " flits" or "")

	pinfo.cols.info = text
	tree:append_text(", " .. text)
	if not add_header(tree, tvb, h) then
		pinfo.cols.info:append(" [header corrupt]")
		return
	end
	local note = notes[pinfo.number]

	if note == nil then
		local comment = tostring(get.comment() or "")

		note = analyse(h, comment:match("lost: .*"))
		note.steps = {}
		notes[pinfo.number] = note
	end
	add_note(tree, pinfo, h, note)
	if h.type == INIT then
		add_init(tree, tvb)
	end
	for i = 0, h.flits - 1 do
		add_flit(tree, tvb, raw, h.header - ETHER_BYTES + i * FLIT_BYTES, i, h,
			note)
	end
end

DissectorTable.get("ethertype"):add(ETHERTYPE, p)
