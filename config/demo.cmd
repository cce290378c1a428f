# The demonstration's faults: see docs/prompt.md for the commands.
# 2,597 captured frames each way, 1,500 a second: about 2 s of traffic.
wait up
rate e0 1500
rate e1 1500
start
say traffic begins: captured frames between e0 and e1, and generators on both links
wait 200ms

say 1. the link s0-s1#0 goes dark in the middle of a packet; both its ends see it
link s0-s1#0 down mid-packet
wait dead s0-s1#0
wait 100ms
say    it is healed: it trains, and its traffic returns
link s0-s1#0 up
wait up
wait 100ms

# s0 hears on, so the flits before the cut are acknowledged.
say 2. s0-s1#1 is cut from s0 to s1 only, and no PHY reports it: a keepalive is missed
link s0-s1#1 one-way s0 mid-packet
wait dead s0-s1#1
wait 100ms
say    it is healed
link s0-s1#1 up
wait up
wait 100ms

say 3. s0-s1#0 flaps five times in 200 ms
link s0-s1#0 flap 5 40ms
wait 300ms
wait up

say 4. a frame of s0 on s0-s1#1 is lost: the next one shows the gap, and the port replays it
inject drop s0-s1#1 s0 1
wait 100ms

say 5. two bytes of a frame of s0 change: FEC corrects them
inject corrupt s0-s1#1 s0 2
wait 100ms

say 6. forty bytes of a frame of s1 change: too many to correct, so the port replays it
inject corrupt s0-s1#0 s1 40
wait 100ms

say 7. frames of s1 on s0-s1#1 are delayed for 5 ms
inject stall s0-s1#1 s1 5ms
wait 100ms

say 8. s0-s1#0 is taken out as planned: the controller moves its traffic away first
link s0-s1#0 remove
wait recovered 60s
wait 100ms
say    it is added again, and its traffic returns
link s0-s1#0 add
wait recovered 60s
wait up 60s
wait 100ms

wait sent 120s
say the captured frames are through
stop
wait up
wait drained
show errors
quit
