// The story's program: every language has one that does the same, with the same names and the same marks.
use std::collections::HashMap;

fn price(item: &str, count: usize) -> usize {
    let cost = item.len() * count; // @cost
    cost // @return
}

fn tally<'a>(words: &[&'a str]) -> HashMap<&'a str, i32> {
    let mut seen = HashMap::new(); // @empty
    for word in words { // @for
        *seen.entry(*word).or_insert(0) += 1; // @tally
    }
    seen // @seen
}

fn shop() -> usize {
    let mut total = 0; // @total
    let mut count = 1;
    while count < 7 {
        total += price("fig", count); // @loop
        println!("so far {}", total); // @print
        count += 1;
    }
    let numbers: Vec<usize> = (0..100).collect();
    return total + numbers[0]; // @numbers
}

fn fail(total: usize) {
    panic!("too much: {}", total); // @raise
}

fn careful() -> &'static str {
    match std::panic::catch_unwind(|| fail(1)) {
        Ok(_) => "",
        Err(_) => "recovered", // @recovered
    }
}

fn spin() {
    let mut turns: u64 = 0;
    println!("spinning");
    loop {
        turns = turns.wrapping_add(1); // @spin
        unsafe { std::ptr::read_volatile(&turns) }; // for the loop to stay; `hint::black_box` is younger than Debian's rustc
    }
}

fn worker() {
    let mine = "of the worker";
    println!("{}", mine); // @worker
}

fn run(what: &str) -> i32 {
    match what {
        "shop" => {
            let total = shop();
            println!("done {}", total); // @done
        }
        "tally" => println!("{:?}", tally(&["a", "b", "a"])),
        "fail" => fail(2000),
        "careful" => println!("{}", careful()),
        "spin" => spin(),
        "thread" => std::thread::Builder::new().name("helper".into()).spawn(worker).unwrap().join().unwrap(),
        _ => (),
    }
    if what == "seven" { 7 } else { 0 } // @exit
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    std::process::exit(run(&what));
}
